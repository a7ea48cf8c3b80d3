package listing

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rmctl/rmctl/model"
)

// The longest values that a cell of a table and a list of facts show, in characters.
const (
	longestCell = 160
	longestFact = 4096
)

// Printable returns a text cut to a number of characters, with invisible characters spelled
// out, and those that change the direction of text. It does not escape HTML.
func Printable(text string, most int) string {
	if IsPlain(text) && len(text) <= most {
		return text
	}
	var shown strings.Builder
	count := 0
	for _, char := range text {
		if count++; count > most {
			shown.WriteRune('…')
			break
		}
		switch {
		case char == '\n' || char == '\t':
			shown.WriteRune(' ')
		case char < ' ':
			shown.WriteRune('\u2400' + char) // the picture of the control character
		case char == 0x7f:
			shown.WriteRune('\u2421')
		case char != ' ' && !unicode.IsPrint(char):
			fmt.Fprintf(&shown, `\u%04x`, char)
		default:
			shown.WriteRune(char)
		}
	}
	return shown.String()
}

// Cell returns a text for a cell of a table.
func Cell(text string) string { return Printable(text, longestCell) }

// Fact returns a text for a list of facts.
func Fact(text string) string { return Printable(text, longestFact) }

// IsPlain reports whether a text has printable ASCII characters only.
func IsPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Output returns the output of a program as Printable does, but with line breaks and tabs.
func Output(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		columns := strings.Split(line, "\t")
		for j, column := range columns {
			columns[j] = Printable(column, utf8.RuneCountInString(column))
		}
		lines[i] = strings.Join(columns, "\t")
	}
	return strings.Join(lines, "\n")
}

// A Moment is a time as pages show it. The zero time means unknown.
type Moment struct{ At time.Time }

// IsKnown reports whether there is a time.
func (m Moment) IsKnown() bool { return !m.At.IsZero() }

// Machine returns the time for programs.
func (m Moment) Machine() string { return m.At.UTC().Format(time.RFC3339) }

// Text returns the time for people, to the second.
func (m Moment) Text() string { return m.At.Local().Format("2006-01-02 15:04:05") }

// Brief returns a short form of the time, without the day if that is today.
func (m Moment) Brief() string {
	at, now := m.At.Local(), time.Now()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("01-02 15:04")
}

// MomentAt returns a time that is shown.
func MomentAt(at time.Time) Moment { return Moment{At: at} }

// MomentOf returns the time in a DATE attribute of an element.
func MomentOf(e *model.Element, attribute string) Moment {
	value, _ := GivenOf(e, attribute)
	return Moment{value.Time()}
}

// Span returns a duration in its two largest units, such as 3 d 4 h.
func Span(length time.Duration) string {
	seconds := int64(max(0, length) / time.Second)
	units := []struct {
		name string
		size int64
	}{{"d", 24 * 3600}, {"h", 3600}, {"min", 60}, {"s", 1}}
	for i, unit := range units {
		if seconds < unit.size {
			continue
		}
		text := fmt.Sprintf("%d %s", seconds/unit.size, unit.name)
		if i+1 < len(units) {
			if rest := seconds % unit.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
}

// Thousands returns a number with thin spaces between groups of three digits.
func Thousands(number int) string {
	digits := strconv.Itoa(number)
	if number < 0 || len(digits) <= 4 {
		return digits
	}
	var grouped strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			grouped.WriteRune('\u202f')
		}
		grouped.WriteRune(digit)
	}
	return grouped.String()
}

// Counted returns a number of things whose plural ends in s, such as "1 job" and "2 jobs".
func Counted(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return Thousands(number) + " " + thing + "s"
}
