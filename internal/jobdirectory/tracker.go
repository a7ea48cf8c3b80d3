package jobdirectory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Tracker stores the state of one tracked process. The processes of a node write to a local directory,
// which is cheap. One at a time, they copy everything to the directory of the job, which may be remote.
// The kernel releases the lock when its holder ends, even if it was killed.
type Tracker struct {
	job   string // directory of the job
	local string // directory of the job on this node
	node  string
}

const (
	lockFile = "lock"
	// lockPatience is how long the end of a process waits for the lock.
	lockPatience = 10 * time.Second
	// mostOften is the minimum interval between two writes of a node's file for output alone.
	mostOften = 5 * time.Second
	lockPoll  = 2 * time.Millisecond
)

// NewTracker returns the tracker of a process of a job. Private is a directory of this node
// that only this user can use; if it is empty, the directory of the job takes its place.
func NewTracker(job, private, node string) (*Tracker, error) {
	t := &Tracker{job: job, node: node, local: filepath.Join(job, processesFolder, "."+plain(node))}
	if private != "" {
		hash := sha256.Sum256([]byte(job)) // jobs of other targets may have the same name
		t.local = filepath.Join(private, plain(filepath.Base(job))+"."+hex.EncodeToString(hash[:4])+".processes", plain(node))
	}
	if info, err := os.Stat(job); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, fmt.Errorf("%s is not a directory", job))
	}
	err := errors.Join(os.MkdirAll(t.local, 0o700), os.MkdirAll(filepath.Join(job, processesFolder), 0o700))
	return t, err
}

// Local returns the processes of the job on this node, including those that have ended
// meanwhile.
func (t *Tracker) Local() ([]Member, error) {
	files, err := os.ReadDir(t.local)
	if err != nil {
		return nil, err
	}
	var all []Member
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".json") || strings.HasPrefix(file.Name(), ".") {
			continue
		}
		members, err := readMembers(filepath.Join(t.local, file.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}

func (t *Tracker) localFile(member *Member) string {
	return filepath.Join(t.local, member.key()+".json")
}

// Note writes the state of the process to the directory of this node.
func (t *Tracker) Note(member *Member) error {
	err := writeMembers(t.localFile(member), []Member{*member})
	if errors.Is(err, fs.ErrNotExist) { // the previous last process removed it
		err = cmp.Or(os.MkdirAll(t.local, 0o700), writeMembers(t.localFile(member), []Member{*member}))
	}
	return err
}

// Publish writes the state of all processes of this node to the directory of the job, unless another
// process has done so including this change.
func (t *Tracker) Publish(member *Member) error {
	release, err := t.lock(lockPatience)
	if err != nil {
		return err
	}
	defer release()
	return t.publish(member)
}

// PublishSometimes is Publish for new output: at most every 5 s for all processes of the node, and not
// while another process holds the lock.
func (t *Tracker) PublishSometimes(member *Member) error {
	info, err := os.Stat(nodeFile(t.job, t.node))
	if err == nil && time.Since(info.ModTime()) < mostOften {
		return nil
	}
	release, err := t.lock(0)
	if err != nil {
		return nil
	}
	defer release()
	return t.publish(member)
}

func (t *Tracker) publish(member *Member) error {
	known, err := readMembers(nodeFile(t.job, t.node))
	if err != nil {
		known = nil // rewrite it from the local files
	}
	isKnown := func(m Member) bool { return m.key() == member.key() && !m.Changed.Before(member.Changed) }
	if !slices.ContainsFunc(known, isKnown) {
		current, err := t.Local()
		if err != nil {
			return err
		}
		if err := writeMembers(nodeFile(t.job, t.node), merged(known, current)); err != nil {
			return err
		}
		t.removeEnded(current)
	}
	return nil
}

// removeEnded removes the local files of ended processes, which are in the file of the node. With the
// last one it removes the directory.
func (t *Tracker) removeEnded(members []Member) {
	left := 0
	for _, member := range members {
		if member.State == StateRunning && isAlive(member.Wrapper) {
			left++
			continue
		}
		_ = os.Remove(t.localFile(&member)) // if it stays, it is merged again
	}
	if left == 0 && !strings.HasPrefix(t.local, t.job) {
		_ = os.Remove(filepath.Join(t.local, lockFile))
		_ = os.Remove(t.local) // fails if another process has started
		_ = os.Remove(filepath.Dir(t.local))
	}
}

// merged returns the previous content of the file of a node, updated with the local files. If a
// process was killed with its wrapper, its end is unknown.
func merged(known, current []Member) []Member {
	all := slices.Clone(current)
	for _, member := range known {
		if !slices.ContainsFunc(current, func(m Member) bool { return m.key() == member.key() }) {
			all = append(all, member)
		}
	}
	for i := range all {
		if all[i].State == StateRunning && !isAlive(all[i].Wrapper) {
			all[i].State = StateUnknown
		}
	}
	slices.SortFunc(all, func(a, b Member) int { return a.Begun.Compare(b.Begun) })
	return all[max(0, len(all)-mostMembers):]
}

func isAlive(process int) bool {
	err := syscall.Kill(process, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// lock waits for the lock.
func (t *Tracker) lock(patience time.Duration) (release func(), err error) {
	for begun := time.Now(); ; time.Sleep(lockPoll) {
		release, err = t.tryLock()
		switch {
		case err == nil:
			return release, nil
		case errors.Is(err, fs.ErrNotExist):
			err = os.MkdirAll(t.local, 0o700)
		case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
			err = nil
		}
		if err == nil && time.Since(begun) >= patience {
			err = errors.New("timeout")
		}
		if err != nil {
			return nil, fmt.Errorf("waiting for the other processes of this node: %w", err)
		}
	}
}

// tryLock locks the lock file unless another process has locked it. It ignores a file that was removed
// meanwhile.
func (t *Tracker) tryLock() (release func(), err error) {
	name := filepath.Join(t.local, lockFile)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		locked, lockedErr := file.Stat()
		current, currentErr := os.Lstat(name)
		if lockedErr == nil && currentErr == nil && os.SameFile(locked, current) {
			return func() { _ = file.Close() }, nil
		}
		err = syscall.EWOULDBLOCK
	}
	_ = file.Close() // the error above is more useful
	return nil, err
}
