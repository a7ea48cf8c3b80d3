package attribute

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/javaregex"
)

// A Validator checks values of an attribute: by an expression, by ranges, or
// by a property of the file that the value names. It holds at most one of the three.
type Validator struct {
	Regex   *Pattern
	Split   bool // the expression splits instead of matching, and then accepts everything
	Ranges  []Range
	File    *FileInfo
	Message string // why a value is refused; empty for a general message
}

// A Range is an interval of floating-point numbers; absent bounds are open.
type Range struct {
	LessThan, LessOrEqual, GreaterThan, GreaterOrEqual *float64
}

// A FileInfo lists the required properties of a file on the target.
type FileInfo struct {
	IsDirectory        bool
	Length             *int64 // bytes
	LastModifiedAfter  time.Time
	LastModifiedBefore time.Time
	Permissions        fs.FileMode // bits that must be set
}

// A Stat looks a file up where commands run.
type Stat func(path string) (fs.FileInfo, error)

// An InvalidError is a value that was refused.
type InvalidError struct {
	Attribute string
	Value     string
	Reason    string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("attribute %q: %q is refused: %s", e.Attribute, abbreviate(e.Value), e.Reason)
}

// Check returns an *InvalidError if the validator of a refuses value. Files are
// looked up with stat; with a nil stat they are not checked.
func (a *Attribute) Check(value Value, stat Stat) error {
	if a.Validator == nil {
		return nil
	}
	reason, err := a.Validator.check(Text(value), stat)
	if err != nil {
		return fmt.Errorf("checking attribute %q: %w", a.Name(), err)
	}
	if reason == "" {
		return nil
	}
	if a.Validator.Message != "" {
		reason = a.Validator.Message
	}
	return &InvalidError{Attribute: a.Name(), Value: Text(value), Reason: reason}
}

// check returns why text is refused, empty if it is not.
func (v *Validator) check(text string, stat Stat) (string, error) {
	switch {
	case v.Regex != nil:
		if v.Split {
			return "", nil
		}
		matched, err := v.Regex.matches(text)
		if err != nil {
			return "", err
		}
		if !matched {
			return fmt.Sprintf("it does not match %s", v.Regex.Text), nil
		}
	case len(v.Ranges) > 0:
		return checkRanges(v.Ranges, text), nil
	case v.File != nil && stat != nil && strings.TrimSpace(text) != "":
		return v.File.check(text, stat)
	}
	return "", nil
}

func checkRanges(ranges []Range, text string) string {
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(number) {
		return "it is not a number"
	}
	for _, r := range ranges {
		if r.contains(number) {
			return ""
		}
	}
	return "it is out of range"
}

// contains gives a strict bound precedence over one that allows equality.
func (r Range) contains(number float64) bool {
	switch {
	case r.GreaterThan != nil && number <= *r.GreaterThan:
		return false
	case r.GreaterThan == nil && r.GreaterOrEqual != nil && number < *r.GreaterOrEqual:
		return false
	case r.LessThan != nil && number >= *r.LessThan:
		return false
	case r.LessThan == nil && r.LessOrEqual != nil && number > *r.LessOrEqual:
		return false
	}
	return true
}

func (f *FileInfo) check(path string, stat Stat) (string, error) {
	info, err := stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file", nil
	}
	if err != nil {
		return "", err
	}
	switch {
	case info.IsDir() && !f.IsDirectory:
		return "it is a directory", nil
	case !info.IsDir() && f.IsDirectory:
		return "it is not a directory", nil
	case f.Length != nil && info.Size() != *f.Length:
		return fmt.Sprintf("the file has %d bytes instead of %d", info.Size(), *f.Length), nil
	case !f.LastModifiedAfter.IsZero() && !info.ModTime().After(f.LastModifiedAfter):
		return fmt.Sprintf("it was not changed after %s", f.LastModifiedAfter.Format(time.DateTime)), nil
	case !f.LastModifiedBefore.IsZero() && !info.ModTime().Before(f.LastModifiedBefore):
		return fmt.Sprintf("it was not changed before %s", f.LastModifiedBefore.Format(time.DateTime)), nil
	case info.Mode().Perm()&f.Permissions != f.Permissions:
		return fmt.Sprintf("its permissions are %s", info.Mode().Perm()), nil
	}
	return "", nil
}

// A Pattern is an expression in Java's syntax. It is compiled when it is first
// matched with a text: a definition has dozens of validators, and a command
// uses few of them. If it cannot be compiled, every check of a value fails. It is safe for
// concurrent use.
type Pattern struct {
	Text  string
	Flags javaregex.Flags

	once     sync.Once
	compiled *javaregex.Regexp
	err      error
}

// matches reports whether the expression matches all of a text.
func (p *Pattern) matches(text string) (bool, error) {
	p.once.Do(func() { p.compiled, p.err = javaregex.Compile(p.Text, p.Flags) })
	if p.err != nil {
		return false, p.err
	}
	_, matched, err := p.compiled.Match(nil, []byte(text))
	return matched, err
}
