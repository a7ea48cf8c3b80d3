package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/remote"
)

const (
	loginPath = "/login"

	minCost            = 10 // of hashes in a password file: lower ones are guessed too fast
	maxCost            = 16 // higher ones take seconds
	usualCost          = 12
	maxPasswordFile    = 1 << 20
	tryPeriod          = 15 * time.Minute
	maxTries           = 5   // wrong passwords from one address in a period
	maxTriesAltogether = 100 // in a period; after that, each address has one
	hashesAtOnce       = 2
)

// Passwords are the names and passwords that open a session.
type Passwords struct {
	hashes map[string][]byte // by name
	other  []byte            // one of them, compared for unknown names, so that these take as long
	busy   chan struct{}     // bounds the concurrent comparisons
}

// hashPassword returns the line of a password file for a name.
func hashPassword(name, password string, cost int) (string, error) {
	if err := checkPasswordName(name); err != nil {
		return "", err
	}
	if len(password) < 8 {
		return "", errors.New("the password is too short: use at least 8 characters")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return name + ":" + string(hash), nil
}

func checkPasswordName(name string) error {
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ':' || r == '#' || r > '~' }) {
		return fmt.Errorf("invalid name %q: use 1 to 64 printable ASCII characters except space, colon and #", name)
	}
	return nil
}

func newPasswords() *Passwords {
	return &Passwords{hashes: map[string][]byte{}, busy: make(chan struct{}, hashesAtOnce)}
}

// ReadPasswords reads a file with NAME:HASH on each line, where the hashes are of bcrypt,
// as by hashPassword and htpasswd -B. The file must belong to the user and be closed to
// others.
func ReadPasswords(path string) (*Passwords, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the password file: %w", err)
	}
	passwords, err := readPasswords(file, path)
	return passwords, errors.Join(err, file.Close())
}

func readPasswords(file *os.File, path string) (*Passwords, error) {
	if err := checkPasswordFile(file, path); err != nil {
		return nil, err
	}
	p := newPasswords()
	lines := bufio.NewScanner(io.LimitReader(file, maxPasswordFile))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.add(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the password file %s: %w", path, err)
	}
	if len(p.hashes) == 0 {
		return nil, fmt.Errorf("the password file %s has no line NAME:HASH; rmctl serve --hash-password NAME prints one", path)
	}
	return p, nil
}

func checkPasswordFile(file *os.File, path string) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("check the password file: %w", err)
	}
	status, isUnix := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("the password file %s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("the password file %s has mode %04o: others can read or change it; run chmod 600", path, info.Mode().Perm())
	case isUnix && int(status.Uid) != os.Geteuid():
		return fmt.Errorf("the password file %s belongs to user %d, not to you", path, status.Uid)
	case info.Size() > maxPasswordFile:
		return fmt.Errorf("the password file %s has %d bytes; the maximum is %d", path, info.Size(), maxPasswordFile)
	}
	return nil
}

func (p *Passwords) add(line string) error {
	name, hash, found := strings.Cut(line, ":")
	if !found {
		return errors.New("the line is not NAME:HASH")
	}
	if err := checkPasswordName(name); err != nil {
		return err
	}
	if _, twice := p.hashes[name]; twice {
		return fmt.Errorf("duplicate name %q", name)
	}
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil {
		return fmt.Errorf("the hash of %q is not a bcrypt hash; rmctl serve --hash-password %s prints one", name, name) // err would show parts of it
	}
	if cost < minCost || cost > maxCost {
		return fmt.Errorf("the hash of %q has cost %d; use a cost from %d to %d", name, cost, minCost, maxCost)
	}
	p.set(name, []byte(hash))
	return nil
}

func (p *Passwords) set(name string, hash []byte) {
	p.hashes[name], p.other = hash, hash
}

// match reports whether a name has a password.
func (p *Passwords) match(name, password string) bool {
	p.busy <- struct{}{}
	defer func() { <-p.busy }()
	hash, known := p.hashes[name]
	if !known {
		hash = p.other
	}
	return bcrypt.CompareHashAndPassword(hash, []byte(password)) == nil && known
}

// tries counts wrong passwords to slow down guessing.
type tries struct {
	now   func() time.Time
	mutex sync.Mutex
	since time.Time // when the period began
	all   int
	from  map[string]int // by the client's network
}

func newTries(now func() time.Time) *tries { return &tries{now: now, from: map[string]int{}} }

// count counts a try as wrong until right is called. After too many, right is nil and wait
// is the time until the next try is possible.
func (t *tries) count(client string) (right func(), wait time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if passed := t.now().Sub(t.since); passed >= tryPeriod {
		t.since, t.all = t.now(), 0
		clear(t.from)
	}
	most := maxTries
	if t.all >= maxTriesAltogether { // somebody guesses from many addresses, who must not lock out everybody else
		most = 1
	}
	if t.from[client] >= most {
		return nil, t.since.Add(tryPeriod).Sub(t.now())
	}
	period := t.since
	t.all++
	t.from[client]++
	return func() {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		if t.since == period {
			t.all--
			t.from[client]--
		}
	}, 0
}

// networkOf returns the address that a request comes from, for IPv6 the network of 64
// bits, in which one host may have any address.
func networkOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}

// login opens a session for a name and its password.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	if s.options.Passwords == nil {
		return answer.Errorf(http.StatusNotFound, "this server has no passwords; open the URL that rmctl serve printed")
	}
	if err := r.ParseForm(); err != nil {
		return answer.Errorf(http.StatusBadRequest, "read the form: %w", err)
	}
	right, wait := s.access.tries.count(networkOf(r))
	if right == nil {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		s.options.Pages.Login(w, r, http.StatusTooManyRequests, fmt.Sprintf("Too many wrong passwords. Try again in %s, or open the URL that rmctl serve printed.", wait.Round(time.Second)))
		return nil
	}
	name := r.PostForm.Get("name")
	if !s.options.Passwords.match(name, r.PostForm.Get("password")) {
		s.options.Log.Warn("wrong password", "from", r.RemoteAddr)
		s.options.Pages.Login(w, r, http.StatusUnauthorized, "Wrong name or password.")
		return nil
	}
	right()
	s.options.Log.Info("session opened by password", "name", name, "from", r.RemoteAddr)
	s.access.open(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// AskPassword asks for the password of a user, twice, and returns their line of a password file.
func AskPassword(ctx context.Context, prompter remote.Prompter, name string) (string, error) {
	password, err := prompter.Ask(ctx, remote.Question{Text: "Password of " + name + ": ", Secret: true})
	if err != nil {
		return "", err
	}
	again, err := prompter.Ask(ctx, remote.Question{Text: "Repeat the password: ", Secret: true})
	if err != nil {
		return "", err
	}
	if password != again {
		return "", errors.New("the two passwords differ")
	}
	return hashPassword(name, password, usualCost)
}
