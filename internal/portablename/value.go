package portablename

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A Value is the value of a portable name as a user means it.
type Value struct {
	name      *Name
	amount    int64    // of counts; bytes of a memory; seconds of a time
	text      string   // of the rest: the name, line or path; the ranges of an array
	limit     string   // of an array
	list      []string // of after the ids, of mail the events
	condition string   // of after
	address   string   // of mail
}

// Bounds of values, beyond which no scheduler goes.
const (
	maxText   = 4096
	maxCount  = 1<<31 - 1
	maxMemory = 1 << 60                  // bytes
	maxTime   = 100 * 366 * 24 * 60 * 60 // seconds
)

const (
	conditionOK  = "ok"
	conditionAny = "any"
)

// Parse reads the value of a portable name as users write it. The error
// says what is wrong and how values of that name are written.
func Parse(name, text string) (Value, error) {
	known := Lookup(name)
	if known == nil {
		return Value{}, fmt.Errorf("%q is not a portable name", name)
	}
	value := Value{name: known}
	fail := func(reason string) (Value, error) {
		return Value{}, fmt.Errorf("%s: use %s", reason, known.Syntax)
	}
	switch {
	case len(text) > maxText:
		return fail(fmt.Sprintf("the value has more than %d bytes", maxText))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return fail("the value has unprintable characters")
	}
	if reason := value.parse(text); reason != "" {
		return fail(reason)
	}
	return value, nil
}

func (v *Value) parse(text string) (reason string) {
	switch v.name.kind {
	case kindCount:
		v.amount, reason = parseCount(text)
	case kindMemory:
		v.amount, reason = parseMemory(text)
	case kindTime:
		v.amount, reason = parseWallTime(text)
	case kindWord:
		if v.text = text; strings.ContainsFunc(text, unicode.IsSpace) {
			reason = fmt.Sprintf("%q has blanks", text)
		}
	case kindLine:
		v.text = text
	case kindPath:
		if v.text = text; strings.Contains(placeholder.ReplaceAllString(text, ""), "%") {
			reason = fmt.Sprintf("%q has a %% other than %%j or %%a", text)
		}
	case kindArray:
		if found := arraySyntax.FindStringSubmatch(text); found != nil {
			v.text, v.limit = found[1], found[2]
		} else {
			reason = fmt.Sprintf("invalid indices %q", text)
		}
	case kindSwitch:
		v.text, reason = parseSwitch(text)
	case kindAfter:
		reason = v.parseAfter(text)
	case kindMail:
		reason = v.parseMail(text)
	}
	return reason
}

func parseCount(text string) (int64, string) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 || number > maxCount || text[0] == '+' {
		return 0, fmt.Sprintf("%q is not a whole number from 1 to %d", text, maxCount)
	}
	return number, ""
}

// The values of a switch.
const (
	switchOn  = "true"
	switchOff = "false"
)

func parseSwitch(text string) (value, reason string) {
	switch strings.ToLower(text) {
	case switchOn, "yes", "on", "1":
		return switchOn, ""
	case switchOff, "no", "off", "0":
		return switchOff, ""
	}
	return "", fmt.Sprintf("%q is neither true nor false", text)
}

// isOff reports whether the value is that of a switch that asks for nothing.
func (v Value) isOff() bool { return v.name.kind == kindSwitch && v.text == switchOff }

var (
	memorySyntax = lazyregexp.New(`^([0-9]{1,18}(?:\.[0-9]{1,18})?) ?([KMGT]iB|[kKMGT]B|[kKMGT]|B)$`)
	memoryUnits  = sync.OnceValue(func() map[string]int64 {
		return map[string]int64{
			"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
			"k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
			"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
		}
	})
)

func parseMemory(text string) (int64, string) {
	found := memorySyntax.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Sprintf("%q is not an amount of memory", text)
	}
	bytes := roundedUp(found[1], memoryUnits()[found[2]])
	if !bytes.IsInt64() || bytes.Int64() > maxMemory || bytes.Sign() == 0 {
		return 0, fmt.Sprintf("%q is zero or too large", text)
	}
	return bytes.Int64(), ""
}

// roundedUp returns a decimal number times a unit.
func roundedUp(number string, unit int64) *big.Int {
	exact, _ := new(big.Rat).SetString(number) // the expression was matched before
	exact.Mul(exact, new(big.Rat).SetInt64(unit))
	whole, rest := new(big.Int).QuoRem(exact.Num(), exact.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}

var (
	timeInUnits = lazyregexp.New(`^(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)d)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)h)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)m)?(?:([0-9]{1,12}(?:\.[0-9]{1,9})?)s)?$`)
	timeOfClock = lazyregexp.New(`^(?:([0-9]{1,5})-)?([0-9]{1,6}):([0-5]?[0-9]):([0-5]?[0-9])$`)
)

// WallTime reads a value of wallTime. It reports false for any other text.
func WallTime(text string) (limit time.Duration, isTime bool) {
	seconds, reason := parseWallTime(text)
	return time.Duration(seconds) * time.Second, reason == ""
}

func parseWallTime(text string) (int64, string) {
	found := timeInUnits.FindStringSubmatch(text)
	if found == nil {
		found = timeOfClock.FindStringSubmatch(text)
	}
	if found == nil || text == "" {
		return 0, fmt.Sprintf("invalid time %q", text)
	}
	seconds := new(big.Int)
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if found[i+1] != "" {
			seconds.Add(seconds, roundedUp(found[i+1], int64(unit/time.Second)))
		}
	}
	if seconds.Cmp(big.NewInt(maxTime)) > 0 || seconds.Sign() == 0 {
		return 0, fmt.Sprintf("%q is zero or too long", text)
	}
	return seconds.Int64(), ""
}

var (
	placeholder = lazyregexp.New(`%[ja]`)
	arraySyntax = lazyregexp.New(`^([0-9]{1,10}(?:-[0-9]{1,10}(?::[1-9][0-9]{0,9})?)?(?:,[0-9]{1,10}(?:-[0-9]{1,10}(?::[1-9][0-9]{0,9})?)?)*)(?:%([1-9][0-9]{0,9}))?$`)
	idSyntax    = lazyregexp.New(`^[\w.\[\]@+-]{1,256}$`)
	mailAddress = lazyregexp.New(`^[^\s"'\\,:<>|;&$` + "`" + `-][^\s"'\\,:<>|;&$` + "`" + `]{0,319}$`)
)

func (v *Value) parseAfter(text string) string {
	condition, ids, hasCondition := strings.Cut(text, ":")
	switch {
	case !hasCondition:
		condition, ids = conditionOK, text
	case condition != conditionOK && condition != conditionAny:
		return fmt.Sprintf("invalid condition %q", condition)
	}
	v.condition, v.list = condition, strings.Split(ids, ",")
	for _, id := range v.list {
		if !idSyntax.MatchString(id) {
			return fmt.Sprintf("invalid job id %q", id)
		}
	}
	return ""
}

// mailEvents are what mail can be sent for, in the order in which they happen.
var mailEvents = []string{"begin", "end", "fail"}

func (v *Value) parseMail(text string) string {
	events, address, both := strings.Cut(text, ":")
	if !both {
		if first, _, _ := strings.Cut(text, ","); first != "all" && !slices.Contains(mailEvents, first) {
			events, address = "end,fail", text
		}
	}
	if address != "" && !mailAddress.MatchString(address) || both && address == "" {
		return fmt.Sprintf("invalid address %q", address)
	}
	v.address = address
	chosen := map[string]bool{}
	for event := range strings.SplitSeq(events, ",") {
		switch {
		case event == "all":
			chosen["begin"], chosen["end"], chosen["fail"] = true, true, true
		case slices.Contains(mailEvents, event):
			chosen[event] = true
		default:
			return fmt.Sprintf("invalid event %q", event)
		}
	}
	for _, event := range mailEvents {
		if chosen[event] {
			v.list = append(v.list, event)
		}
	}
	return ""
}
