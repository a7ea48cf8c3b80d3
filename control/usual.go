package control

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/rms"
)

// Usual tells what is usual of the outputs of a definition's status commands,
// as its cases show it. For shipped definitions it is built in; for others it
// stands in a file beside the definition, see UsualFile.
type Usual struct {
	// Definition tells of which state of the definition this is; empty for one
	// that is kept equal to the definition by other means.
	Definition string                 `json:"definition,omitempty"`
	Commands   map[string]UsualOutput `json:"commands"` // by selectors, such as get-job-status:NAME
}

// A UsualOutput tells what is usual of the output of one command.
type UsualOutput struct {
	Outputs   int      `json:"outputs"`         // of which this is known, that had several lines and told a state
	Unmatched float64  `json:"unmatched"`       // largest share of lines, from 0 to 1, that nothing in the definition took
	Words     []string `json:"words,omitempty"` // of the scheduler for states of jobs, sorted
}

// Add takes notice of one output: how many segments, mostly lines, its parser
// looked at, how many of these nothing took, and whether it told a state. What
// has few segments, or told none, says nothing of the share.
func (u *UsualOutput) Add(segments, unmatched int64, toldState bool, word string) {
	if at, known := slices.BinarySearch(u.Words, word); !known && word != "" {
		u.Words = slices.Insert(u.Words, at, word)
	}
	if !toldState || segments < fewSegments {
		return
	}
	u.Outputs++
	u.Unmatched = max(u.Unmatched, float64(unmatched)/float64(segments))
}

// isFarFrom reports whether a share of lines that nothing took is far above what
// is usual: less than half as many were understood as in any output known.
func isFarFrom(usual, share float64) bool { return 1-share < (1-usual)*farBelowUsual }

//go:embed usual/*.json
var shippedUsual embed.FS

// maxUsualBytes bounds the file that tells what is usual.
const maxUsualBytes = 1 << 20

// UsualFile returns the file that tells what is usual of a definition in a file,
// beside it: mysite.usual.json for mysite.xml.
func UsualFile(definition *config.Definition) string {
	return strings.TrimSuffix(definition.File, filepath.Ext(definition.File)) + ".usual.json"
}

// WriteUsual writes the file of a definition, and that it is for this state of it.
func WriteUsual(definition *config.Definition, commands map[string]UsualOutput) error {
	path := UsualFile(definition)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(Usual{Definition: fingerprintOf(definition), Commands: commands}); err != nil {
		return fmt.Errorf("writing what is usual of %s: %w", definition.File, err)
	}
	// whole or not at all: another process may read it meanwhile
	unfinished := path + "." + uuid.NewString()
	if err := os.WriteFile(unfinished, text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing what is usual of %s: %w", definition.File, err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("writing what is usual of %s: %w", definition.File, errors.Join(err, os.Remove(unfinished)))
	}
	return nil
}

// errStaleUsual tells that a definition has changed since its cases were tried.
var errStaleUsual = errors.New("the definition has changed since it was written")

// readUsual reads the file of a definition. There may be none: then all is
// empty. The error may be errStaleUsual.
func readUsual(definition *config.Definition, fingerprint string) (Usual, error) {
	path := UsualFile(definition)
	// a named pipe would wait for somebody to write
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Usual{}, nil
	}
	if err != nil {
		return Usual{}, fmt.Errorf("reading what is usual: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(file, maxUsualBytes+1))
	if err == nil && len(text) > maxUsualBytes {
		err = fmt.Errorf("it has more than %d bytes", maxUsualBytes)
	}
	var usual Usual
	if err == nil {
		err = json.Unmarshal(text, &usual)
	}
	if err == nil && usual.Definition != fingerprint {
		err = errStaleUsual
	}
	if err != nil {
		return Usual{}, fmt.Errorf("reading what is usual, %s: %w", path, err)
	}
	return usual, nil
}

// shippedUsualOf returns what is built in for a shipped definition; all is empty
// where nothing is.
func shippedUsualOf(name string) (Usual, error) {
	text, err := shippedUsual.ReadFile("usual/" + name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return Usual{}, nil
	}
	var usual Usual
	if err == nil {
		err = json.Unmarshal(text, &usual)
	}
	if err != nil {
		return Usual{}, fmt.Errorf("reading what is usual of %s: %w", name, err)
	}
	return usual, nil
}

// IsShipped reports whether a definition is one that is shipped, as it is.
func IsShipped(definition *config.Definition) bool {
	_, shipped := ShippedName(definition.File, definition.Source())
	return shipped
}

// shippedName returns the name of the shipped definition that a text is, wherever
// its file is said to be: what extends a shipped one calls it by a path.
func ShippedName(file string, source []byte) (string, bool) {
	name := strings.TrimSuffix(filepath.Base(file), ".xml")
	shipped, known := rms.Source(name)
	return name, known && bytes.Equal(shipped, source)
}

// usualOf returns what the cases of a definition say of the output of one of its
// commands, and false where they say nothing. What a definition has taken over
// from a shipped one is as usual as there. A file that cannot be used counts for
// none; an examination tells of it.
func (c *Controller) usualOf(command *config.Command) (UsualOutput, bool) {
	usual, err := c.usual()
	if err != nil {
		c.log.Debug("what is usual of outputs is learned", "error", err)
	}
	if known, found := usual.Commands[selectorOf(command)]; found {
		return known, true
	}
	sources := c.definition.Sources()
	for i, file := range c.definition.Files() {
		name, isShipped := ShippedName(file, sources[i])
		if file != command.Position.File || !isShipped {
			continue
		}
		usual, err := shippedUsualOf(name)
		if err != nil {
			c.log.Debug("what is usual of outputs is learned", "error", err)
		}
		known, found := usual.Commands[selectorOf(command)]
		return known, found
	}
	return UsualOutput{}, false
}
