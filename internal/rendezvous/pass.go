package rendezvous

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// mostPass bounds the file of a pass.
const mostPass = 8 << 20

// The gates of parts: what a process does before the release.
const (
	GateHeld    = "held"    // it waits in rmctl-node
	GateProgram = "program" // the program waits by itself
	GateOpen    = "none"    // it does not wait
)

// A Pass is what the processes of a part need to check in, and to run. It contains the secret of
// the part.
type Pass struct {
	Version     int           `json:"version"`
	Ensemble    string        `json:"ensemble"`
	Serial      int           `json:"serial"`
	Index       int           `json:"index"`
	Label       string        `json:"label"`
	Gate        string        `json:"gate"`
	Count       int           `json:"count"` // processes of the part
	Parts       int           `json:"parts"` // of the ensemble, which may change before the release
	Joins       bool          `json:"joins"` // the group that exchanges messages
	Exchange    bool          `json:"exchange,omitempty"`
	Fingerprint string        `json:"fingerprint"` // of the co-allocator's certificate
	Secret      []byte        `json:"secret"`
	Wait        time.Duration `json:"wait"`                  // limit until the release; 0: 24 hours
	Arguments   []string      `json:"arguments"`             // the program first
	Environment []string      `json:"environment,omitempty"` // NAME=VALUE, beside that of the process
	Directory   string        `json:"directory,omitempty"`   // where the program runs; "": where rmctl-node was started
	RankFrom    string        `json:"rankFrom,omitempty"`    // the variable with the rank of a process; "": those of launchers
}

// Encode returns the text of the file.
func (p *Pass) Encode() ([]byte, error) {
	pass := *p
	pass.Version = protocolVersion
	text, err := json.Marshal(pass)
	if err == nil && len(text) > mostPass {
		err = fmt.Errorf("the program and its environment have more than %d bytes", mostPass)
	}
	return text, err
}

// ReadPass reads the file of a pass. It refuses files that others own or can read.
func ReadPass(path string) (*Pass, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the pass: %w", err)
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the pass: %w", err)
	}
	status, isStatus := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the pass %s is not a file", path)
	case !isStatus || int(status.Uid) != os.Geteuid():
		return nil, fmt.Errorf("the pass %s belongs to another user", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("the pass %s is accessible to other users", path)
	}
	text, err := io.ReadAll(io.LimitReader(file, mostPass+1))
	if err != nil {
		return nil, fmt.Errorf("reading the pass: %w", err)
	}
	pass, err := parsePass(text)
	if err != nil {
		return nil, fmt.Errorf("reading the pass %s: %w", path, err)
	}
	return pass, nil
}

func parsePass(text []byte) (*Pass, error) {
	if len(text) > mostPass {
		return nil, fmt.Errorf("it has more than %d bytes", mostPass)
	}
	pass := &Pass{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(pass); err != nil {
		return nil, err
	}
	switch {
	case pass.Version != protocolVersion:
		return nil, fmt.Errorf("it has version %d; this program knows version %d", pass.Version, protocolVersion)
	case len(pass.Arguments) == 0 || pass.Arguments[0] == "":
		return nil, errors.New("it names no program")
	case pass.Count < 1 || len(pass.Secret) == 0 || pass.Fingerprint == "":
		return nil, errors.New("it is not complete")
	case pass.Gate != GateHeld && pass.Gate != GateProgram && pass.Gate != GateOpen:
		return nil, fmt.Errorf("unknown gate %.50q", pass.Gate)
	}
	if err := pass.checkTexts(); err != nil {
		return nil, err
	}
	if pass.Wait <= 0 {
		pass.Wait = 24 * time.Hour
	}
	return pass, nil
}

// checkTexts refuses arguments and variables that no program can get.
func (p *Pass) checkTexts() error {
	for _, text := range slices.Concat(p.Arguments, p.Environment, []string{p.Directory, p.Ensemble, p.Label}) {
		if strings.Contains(text, "\x00") {
			return errors.New("a text contains NUL")
		}
	}
	for _, variable := range p.Environment {
		if name, _, isSet := strings.Cut(variable, "="); !isSet || name == "" {
			return fmt.Errorf("invalid variable %.50q", variable)
		}
	}
	if p.Serial < 0 || p.Index < 0 || p.Parts < 0 {
		return errors.New("a number is negative")
	}
	return nil
}
