package reader

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/exitstatus"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/quantity"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/tag"
	"github.com/rmctl/rmctl/internal/timezone"
)

// Values of the attribute as of x:fact.
const (
	asText       = ""
	asInteger    = "integer"
	asNumber     = "number"
	asBoolean    = "boolean"
	asSum        = "sum"
	asCount      = "count" // how many numbers a list of numbers and ranges has
	asTime       = "time"
	asDuration   = "duration"
	asBytes      = "bytes"
	asExitStatus = "exit-status" // an exit code, or a signal above a base
	asWaitStatus = "wait-status" // of wait(2): 256 times the code, or the signal
	asPath       = "path"
	asTag        = "tag"
	asFields     = "fields" // the fields below a field, in the format of package further
)

// value converts the texts of a fact to its type. It also returns the signal of an exit status, and the
// reason if a text is dropped.
func (f *fact) value(texts []string, on *evaluation) (value, signal, dropped string, err error) {
	if len(texts) == 0 {
		return "", "", "", nil
	}
	switch f.As {
	case asText:
		if f.Split != "" {
			texts = distinctTexts(texts)
		}
		return clean(strings.Join(texts, ",")), "", "", nil
	case asSum:
		total, odd := quantity.Sum(texts)
		value, dropped = orNotA(total, total != "", "a whole number", odd)
	case asCount:
		total, odd := ranges.Count(texts)
		value, dropped = orNotA(total, total != "", "a number or a range", odd)
	case asTag:
		value, dropped = tag.In(texts[0])
	case asFields:
		value = texts[0]
	case asPath:
		value, dropped, err = f.path(texts[0], on)
	case asExitStatus, asWaitStatus:
		value, signal, dropped = f.status(texts[0])
	case asTime:
		value, dropped = f.time(strings.TrimSpace(texts[0]), on.location)
	default:
		value, dropped = converted(f.As, strings.TrimSpace(texts[0]), f.Unit)
	}
	return value, signal, dropped, err
}

// status reads an exit status or a wait status.
func (f *fact) status(text string) (code, signal, dropped string) {
	isStatus, what := false, "an exit status"
	if f.As == asWaitStatus {
		what = "a wait status"
		code, signal, isStatus = exitstatus.ReadWait(text)
	} else {
		code, signal, isStatus = exitstatus.Read(text, f.SignalBase)
	}
	if !isStatus {
		dropped = notA(what, text)
	}
	return code, signal, dropped
}

// distinctTexts returns texts in their order, each once.
func distinctTexts(texts []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(texts, func(text string) bool {
		isAgain := seen[text]
		seen[text] = true
		return isAgain
	})
}

// converted converts a text to a type that needs no other input.
func converted(as, text, unit string) (value, dropped string) {
	switch as {
	case asInteger:
		if number, err := strconv.ParseFloat(text, 64); err == nil && number == math.Trunc(number) && math.Abs(number) < 1<<53 {
			return strconv.FormatFloat(number, 'f', -1, 64), ""
		}
		return "", notA("a whole number", text)
	case asNumber:
		if number, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(number) && !math.IsInf(number, 0) {
			return text, ""
		}
		return "", notA("a number", text)
	case asBoolean:
		switch strings.ToLower(text) {
		case "true", "yes", "1":
			return "true", ""
		case "false", "no", "0":
			return "", ""
		}
		return "", notA("true or false", text)
	case asBytes:
		value, isAmount := quantity.Mebibytes(text, unit)
		return orNotA(value, isAmount, "an amount of memory", text)
	case asDuration:
		value, isLength := quantity.Seconds(text, unit)
		return orNotA(value, isLength, "a length of time", text)
	}
	return clean(text), ""
}

// orNotA returns a valid value, or the reason to drop it.
func orNotA(value string, counts bool, what, text string) (string, string) {
	if counts {
		return value, ""
	}
	return "", notA(what, text)
}

// ctimeWithOffset is the time format of Cobalt, which is followed by the name of the zone.
const ctimeWithOffset = time.ANSIC + " -0700"

var zoneName = lazyregexp.New(` \([A-Za-z]+\)$`)

// time parses a time. It keeps the text unless the time is to be truncated. One truncated to the second
// gets the zone of the host, so that times in different formats can be compared.
func (f *fact) time(text string, location *time.Location) (value, dropped string) {
	if f.Format != "" {
		for layout := range strings.SplitSeq(f.Format, "|") {
			if moment, err := time.Parse(layout, text); err == nil {
				return f.written(moment), ""
			}
		}
		return "", notA("a time in the given format", text)
	}
	if f.To == "second" {
		location = cmp.Or(location, time.UTC)
		if moment, isTime := timezone.ParseTime(text, location); isTime {
			return moment.In(location).Format(time.RFC3339), ""
		}
		return "", notA("a time", text)
	}
	if moment, err := time.Parse(ctimeWithOffset, zoneName.ReplaceAllString(text, "")); err == nil {
		if f.To == "" {
			return moment.Format(time.RFC3339), ""
		}
		return f.written(moment), ""
	}
	moment, isTime := timezone.ParseTime(text, time.UTC)
	if !isTime {
		return "", notA("a time", text)
	}
	if f.To == "" {
		return text, ""
	}
	return f.written(moment), ""
}

// written formats a time without a zone, to the minute or in a layout if that is enough.
func (f *fact) written(moment time.Time) string {
	switch f.To {
	case "", "second":
	case "minute":
		moment = moment.Truncate(time.Minute)
	default:
		return moment.Format(f.To)
	}
	return moment.Format("2006-01-02T15:04:05")
}

// A placeholder is a text in paths to be replaced by a value.
type placeholder struct {
	word string
	as   *expression
}

// newPlaceholders reads words="%J=@job $HOME=EXEC_HOME".
func newPlaceholders(definition *config.Fact) ([]placeholder, error) {
	var words []placeholder
	for _, each := range definition.Words {
		word, as, isPair := strings.Cut(each, "=")
		if !isPair || word == "" || as == "" {
			return nil, fmt.Errorf("%s: %q is not WORD=XPATH", definition.Position, each)
		}
		words = append(words, placeholder{word, newExpression(config.XPath{Position: definition.Position, Text: as})})
	}
	return words, nil
}

// hostPattern matches the host before a path: host:/path.
var hostPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]*:`)

// longestPath is the longest path of Linux, in bytes.
const longestPath = 4096

// unreplaced matches placeholders left in a path.
var unreplaced = lazyregexp.New(`%[A-Za-z]|\$[A-Za-z_{(]|\^[a-z_]+\^|\{\{`)

// path parses a path: it drops the host, replaces placeholders and requires an absolute path.
func (f *fact) path(text string, on *evaluation) (value, dropped string, err error) {
	if text, err = f.replaceWords(hostPattern.ReplaceAllString(text, ""), on); err != nil {
		return "", "", err
	}
	if !strings.HasPrefix(text, "/") && f.base != nil {
		base, err := f.base.text(on)
		if err == nil {
			base, err = f.replaceWords(base, on)
		}
		if err != nil || base == "" {
			return "", notA("absolute, and its folder is unknown", text), err
		}
		text = strings.TrimSuffix(hostPattern.ReplaceAllString(base, ""), "/") + "/" + text
	}
	if strings.HasSuffix(text, "/") && f.replace != nil {
		name, err := f.replace.text(on)
		if err != nil {
			return "", "", err
		}
		text += name
	}
	switch {
	case !strings.HasPrefix(text, "/"):
		return "", notA("an absolute path", text), nil
	case strings.ContainsFunc(text, unicode.IsControl), len(text) > longestPath:
		return "", notA("a printable path", text), nil
	case unreplaced.MatchString(text):
		return "", notA("a path without placeholders", text), nil
	}
	return text, "", nil
}

// replaceWords replaces the placeholders in a path that have a value.
func (f *fact) replaceWords(text string, on *evaluation) (string, error) {
	for _, each := range f.words {
		if !strings.Contains(text, each.word) {
			continue
		}
		value, err := each.as.text(on)
		if err != nil {
			return "", err
		}
		if value != "" {
			text = strings.ReplaceAll(text, each.word, value)
		}
	}
	return text, nil
}
