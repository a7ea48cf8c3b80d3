package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/ranges"
)

// The debuggers of a pass.
const (
	GDB  = "gdb"
	LLDB = "lldb"
	DLV  = "dlv"
)

// What happens to the process when the client has left.
const (
	Release = "release" // it runs on without a debugger
	End     = "end"     // it is killed
)

const (
	passVersion = 1
	mostPass    = 8 << 20 // bytes
	usualWait   = 24 * time.Hour
	usualLinger = 30 * time.Second
)

// A Pass configures rmctl-node debug. Its file names a program to run, so only its user may have access.
type Pass struct {
	Version     int           `json:"version"`
	Arguments   []string      `json:"arguments,omitempty"`   // the program first; empty for ranks that run already
	Environment []string      `json:"environment,omitempty"` // NAME=VALUE, beside that of the process
	Directory   string        `json:"directory,omitempty"`   // where the program runs; empty: where rmctl-node was started
	RankFrom    string        `json:"rankFrom,omitempty"`    // variable with the rank; empty: those of launchers
	Ranks       ranges.Set    `json:"ranks,omitempty"`       // that are debugged; empty: all
	Connection  string        `json:"connection,omitempty"`  // directory of the relays to rmctl; empty: that of the file
	Debugger    string        `json:"debugger"`              // GDB, LLDB or DLV
	Path        string        `json:"path,omitempty"`        // of the debugger; empty: in PATH
	WhenLeft    string        `json:"whenLeft,omitempty"`    // Release or End; empty: End for programs that it starts
	Linger      time.Duration `json:"linger,omitempty"`      // for an orderly end after the client has left; 0: 30 s
	Quiet       bool          `json:"quiet,omitempty"`       // the output of the program goes to rmctl only, until that has left
	Wait        time.Duration `json:"wait,omitempty"`        // for a connection to rmctl; 0: 24 hours
}

// Encode returns the text of the file.
func (p *Pass) Encode() ([]byte, error) {
	pass := *p
	pass.Version = passVersion
	text, err := json.Marshal(pass)
	if err == nil && len(text) > mostPass {
		err = fmt.Errorf("the program and its environment have more than %d bytes", mostPass)
	}
	return text, err
}

// ReadPass reads the file of a pass. It refuses files that others own or have access to.
func ReadPass(path string) (*Pass, error) {
	text, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("reading the pass: %w", err)
	}
	pass, err := ParsePass(text)
	if err != nil {
		return nil, fmt.Errorf("reading the pass %s: %w", path, err)
	}
	if pass.Connection == "" {
		pass.Connection = filepath.Dir(path)
	}
	return pass, nil
}

func readPrivate(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	status, isStatus := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case !isStatus || int(status.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%s belongs to another user", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s is accessible to other users: run chmod 600 %s", path, path)
	}
	return io.ReadAll(io.LimitReader(file, mostPass+1))
}

// ParsePass parses the output of Encode, and sets defaults.
func ParsePass(text []byte) (*Pass, error) {
	if len(text) > mostPass {
		return nil, fmt.Errorf("it has more than %d bytes", mostPass)
	}
	pass := &Pass{}
	if err := json.Unmarshal(text, pass); err != nil {
		return nil, err
	}
	switch {
	case pass.Version != passVersion:
		return nil, fmt.Errorf("it has version %d; this program knows version %d", pass.Version, passVersion)
	case len(pass.Arguments) > 0 && pass.Arguments[0] == "":
		return nil, errors.New("it names no program")
	case !slices.Contains([]string{GDB, LLDB, DLV}, pass.Debugger):
		return nil, fmt.Errorf("unknown debugger %.50q: use gdb, lldb or dlv", pass.Debugger)
	case !slices.Contains([]string{"", Release, End}, pass.WhenLeft):
		return nil, fmt.Errorf("unknown end %.50q: use release or end", pass.WhenLeft)
	case pass.Linger < 0 || pass.Wait < 0:
		return nil, errors.New("a time is negative")
	}
	if err := pass.checkTexts(); err != nil {
		return nil, err
	}
	if pass.Linger == 0 {
		pass.Linger = usualLinger
	}
	if pass.Wait == 0 {
		pass.Wait = usualWait
	}
	return pass, nil
}

// checkTexts refuses arguments and variables that no program can get.
func (p *Pass) checkTexts() error {
	for _, text := range slices.Concat(p.Arguments, p.Environment, []string{p.Directory, p.Connection, p.Path}) {
		if strings.Contains(text, "\x00") {
			return errors.New("a text contains NUL")
		}
	}
	for _, variable := range p.Environment {
		if name, _, isSet := strings.Cut(variable, "="); !isSet || name == "" {
			return fmt.Errorf("invalid variable %.50q", variable)
		}
	}
	for i, each := range p.Ranks {
		if each.First < 0 || each.Last < each.First || i > 0 && each.First <= p.Ranks[i-1].Last {
			return errors.New("invalid ranks")
		}
	}
	return nil
}

// Debugs reports whether a rank is debugged. The others run without a debugger.
func (p *Pass) Debugs(rank int) bool {
	for _, each := range p.Ranks {
		if rank >= each.First && rank <= each.Last {
			return true
		}
	}
	return len(p.Ranks) == 0
}
