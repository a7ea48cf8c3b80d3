package mutate

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A damager makes mutants of one kind.
type damager func(*damage)

// damagers are the operators, in the order in which they run and count.
var damagers = []struct {
	operator string
	make     damager
}{
	{"banner", addBanner},
	{"warning", addWarning},
	{"truncated", truncateOutput},
	{"line-lost", loseLine},
	{"line-doubled", doubleLine},
	{"line-swapped", swapLines},
	{"document-cut", cutDocument},
	{"word-unknown", replaceWords},
	{"crlf", endLinesLikeDOS},
	{"column-shifted", shiftColumns},
	{"column-cut", cutColumns},
	{"column-added", addColumn},
	{"field-empty", emptyFields},
	{"date", translateDates},
	{"invalid-utf-8", insertInvalidBytes},
	{"failed", failCommand},
	{"empty", emptyOutput},
}

// A damage collects the mutants of one recorded answer.
type damage struct {
	original output
	lines    [][]byte // of standard output, with their line ends
	operator string
	mutants  []mutant
}

// add keeps a mutant that differs from the output.
func (d *damage) add(damaged output, place string, values ...any) {
	if damaged.equal(d.original) {
		return
	}
	d.mutants = append(d.mutants, mutant{Operator: d.operator, Place: fmt.Sprintf(place, values...), Output: damaged})
}

// addStdout keeps a mutant that differs only in standard output.
func (d *damage) addStdout(text []byte, place string, values ...any) {
	output := d.original
	output.Stdout = text
	d.add(output, place, values...)
}

// withLine returns the standard output with a line replaced.
func (d *damage) withLine(index int, text ...[]byte) []byte {
	parts := append([][]byte{}, d.lines[:index]...)
	parts = append(parts, text...)
	return bytes.Join(append(parts, d.lines[index+1:]...), nil)
}

// loginBanner must not be taken for an answer, although it contains numbers, field names
// and words of states.
const loginBanner = `*******************************************************
* Welcome to login1.example.org - 17 users, load 0.42 *
* Maintenance = COMPLETED, jobs FAILED: 0             *
*******************************************************
Last login: Fri Nov 20 09:13:00 2026 from 192.0.2.17
`

func addBanner(d *damage) {
	d.addStdout(joined([]byte(loginBanner), d.original.Stdout), "before the output")
	d.addStdout(joined(d.original.Stdout, []byte(loginBanner)), "after the output")
	d.addStdout(joined([]byte("\x1b]0;user@login1: ~\x07"), d.original.Stdout), "title of a terminal, without line end")
	if len(d.lines) > 1 {
		d.addStdout(d.withLine(0, d.lines[0], []byte(loginBanner)), "after line 1")
	}
}

const shellWarning = "bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)\n"

func addWarning(d *damage) {
	output := d.original
	output.Stderr = joined([]byte(shellWarning), d.original.Stderr)
	d.add(output, "on standard error, before the rest")
	output.Stderr = joined(d.original.Stderr, []byte("X11 forwarding request failed on channel 0\n"))
	d.add(output, "on standard error, after the rest")
	d.addStdout(joined([]byte(shellWarning), d.original.Stdout), "on standard output")
	for _, index := range spread(len(d.lines), 4) {
		line := d.lines[index]
		half := len(line) / 2
		d.addStdout(d.withLine(index, line[:half], []byte(shellWarning), line[half:]), "in the middle of line %d", index+1)
	}
}

// truncateOutput ends the output within a line, as a lost connection does: in
// the middle of it, before its last character, and before its line end.
func truncateOutput(d *damage) {
	for _, index := range spread(len(d.lines), mostPlaces) {
		line := d.lines[index]
		start := len(joined(d.lines[:index]...))
		text := bytes.TrimRight(line, "\r\n")
		for _, length := range []int{len(text) / 2, len(text) - 1, len(text)} {
			if length > 0 {
				d.addStdout(d.original.Stdout[:start+length:start+length], "in line %d after byte %d", index+1, length)
			}
		}
		d.addStdout(d.original.Stdout[:start+len(line):start+len(line)], "after line %d", index+1)
	}
}

func loseLine(d *damage) {
	for _, index := range spread(len(d.lines), mostPlaces) {
		d.addStdout(d.withLine(index), "line %d", index+1)
	}
}

func doubleLine(d *damage) {
	for _, index := range spread(len(d.lines), mostPlaces) {
		d.addStdout(d.withLine(index, d.lines[index], d.lines[index]), "line %d", index+1)
	}
}

func endLinesLikeDOS(d *damage) {
	output := d.original
	output.Stdout = bytes.ReplaceAll(output.Stdout, []byte("\n"), []byte("\r\n"))
	d.addStdout(output.Stdout, "standard output")
	output.Stderr = bytes.ReplaceAll(output.Stderr, []byte("\n"), []byte("\r\n"))
	d.add(output, "both streams")
}

// shiftColumns moves a line by a blank, and the fields of a row by one.
func shiftColumns(d *damage) {
	for _, index := range spread(len(d.lines), mostPlaces) {
		line := d.lines[index]
		d.addStdout(d.withLine(index, []byte(" "), line), "line %d to the right", index+1)
		if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			d.addStdout(d.withLine(index, line[1:]), "line %d to the left", index+1)
		}
		for _, at := range separators(line) {
			d.addStdout(d.withLine(index, line[:at], line[at+1:]), "line %d without what separates its fields at byte %d", index+1, at)
		}
		if fields := columnsOf(line); isRow(line) && len(fields) > 1 {
			d.addStdout(d.withLine(index, line[:fields[0][0]], line[fields[1][0]:]), "line %d without its first field", index+1)
		}
	}
}

// cutColumns truncates the fields of rows, as narrow columns do. It skips single values:
// nobody could notice their truncation.
func cutColumns(d *damage) {
	for _, index := range spread(len(d.lines), mostPlaces) {
		line := d.lines[index]
		fields := columnsOf(line)
		if !isRow(line) || len(fields) < 2 {
			continue
		}
		for number, field := range fields {
			if length := field[1] - field[0]; length > 1 {
				kept := line[field[0] : field[0]+(length+1)/2]
				d.addStdout(d.withLine(index, line[:field[0]], kept, line[field[1]:]), "line %d, field %d", index+1, number+1)
				d.addStdout(d.withLine(index, line[:field[0]], kept, []byte("+"), line[field[1]:]), "line %d, field %d, marked with +", index+1, number+1)
			}
		}
	}
}

func addColumn(d *damage) {
	for _, index := range spread(len(d.lines), mostPlaces) {
		line := d.lines[index]
		text, end := cutLineEnd(line)
		if len(text) == 0 {
			continue
		}
		separator := "  "
		if bytes.IndexByte(text, '|') >= 0 {
			separator = "|"
		}
		d.addStdout(d.withLine(index, []byte("4711"+separator), line), "line %d, at its begin", index+1)
		d.addStdout(d.withLine(index, text, []byte(separator+"4711"), end), "line %d, at its end", index+1)
	}
}

func emptyFields(d *damage) {
	for _, index := range spread(len(d.lines), mostPlaces) {
		line := d.lines[index]
		for number, field := range columnsOf(line) {
			before, after := line[:field[0]], line[field[1]:]
			d.addStdout(d.withLine(index, before, after), "line %d, field %d", index+1, number+1)
			blanks := bytes.Repeat([]byte(" "), field[1]-field[0])
			d.addStdout(d.withLine(index, before, blanks, after), "line %d, field %d, blanks", index+1, number+1)
		}
	}
}

var (
	isoDate   = lazyregexp.New(`(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d(?::\d\d)?)`)
	ctimeDate = lazyregexp.New(`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})`)
)

func translateDates(d *damage) {
	for _, locale := range []struct{ name, iso, ctime string }{
		{"German", "$3.$2.$1 $4", "Fr $1. Nov $2 CET $3"},
		{"French", "$3/$2/$1 $4", "ven. $1 nov. $3 $2"},
		{"American", "$2/$3/$1 $4", "Fri $1 Nov $3 $2 PM CST"},
		{"Japanese", "$1年$2月$3日 $4", "$3年 11月 $1日 金曜日 $2"},
	} {
		output := isoDate.ReplaceAll(d.original.Stdout, []byte(braced(locale.iso)))
		d.addStdout(ctimeDate.ReplaceAll(output, []byte(braced(locale.ctime))), "%s", locale.name)
	}
}

// braced keeps letters that follow the number of a group from being taken for
// a part of its name.
func braced(template string) string {
	return regexp.MustCompile(`\$(\d)`).ReplaceAllString(template, "$${$1}")
}

func insertInvalidBytes(d *damage) {
	invalid := []byte("\xff\xc3")
	for _, index := range spread(len(d.lines), mostPlaces) {
		line := d.lines[index]
		text, end := cutLineEnd(line)
		for _, at := range []int{0, len(text) / 2, len(text)} {
			d.addStdout(d.withLine(index, text[:at], invalid, text[at:], end), "line %d, at byte %d", index+1, at)
		}
	}
}

// failCommand makes the command fail, with and without its output.
func failCommand(d *damage) {
	const message = "error: communication failure: 17 retries, job 4711 not outputed\n"
	half := d.original.Stdout[: len(d.original.Stdout)/2 : len(d.original.Stdout)/2]
	for _, exit := range []int{1, 255} {
		d.add(output{Stderr: []byte(message), Exit: exit}, "message on standard error, exit %d", exit)
		d.add(output{Stdout: []byte(message), Exit: exit}, "message on standard output, exit %d", exit)
		d.add(output{Stdout: half, Stderr: []byte(message), Exit: exit}, "after half of the output, exit %d", exit)
		d.add(output{Stdout: joined(d.original.Stdout, []byte(message)), Exit: exit}, "message after the output, exit %d", exit)
	}
	d.add(output{Stderr: []byte("sh: 1: " + strconv.Quote("command") + ": not found\n"), Exit: 127}, "program missing, exit 127")
	d.add(output{Stdout: []byte(message)}, "message on standard output, exit 0")
}

func emptyOutput(d *damage) {
	d.add(output{}, "exit 0")
	d.add(output{Exit: 1}, "exit 1")
	d.add(output{Stdout: []byte("\n")}, "an empty line")
	d.add(output{Stdout: bytes.Repeat([]byte("\n"), len(d.lines)+1)}, "empty lines")
}

// columnsOf returns where the fields of a line begin and end: of a row with | all columns,
// otherwise the values after = and the words that are not names of values.
func columnsOf(line []byte) [][2]int {
	text, _ := cutLineEnd(line)
	var fields [][2]int
	if bytes.IndexByte(text, '|') >= 0 {
		start := 0
		for at := 0; at <= len(text); at++ {
			if at == len(text) || text[at] == '|' {
				fields = append(fields, [2]int{start, at})
				start = at + 1
			}
		}
		return fields
	}
	if name, value, found := bytes.Cut(text, []byte(" = ")); found && !bytes.ContainsAny(bytes.TrimLeft(name, " \t"), " \t") {
		return [][2]int{{len(text) - len(value), len(text)}}
	}
	for _, word := range wordsOf.FindAllIndex(text, mostFields) {
		start := word[0]
		if equal := bytes.IndexByte(text[word[0]:word[1]], '='); equal >= 0 {
			start += equal + 1
		}
		fields = append(fields, [2]int{start, word[1]})
	}
	return fields
}

var wordsOf = lazyregexp.New(`\S+`)

// separators returns where the fields of a row are separated.
func separators(line []byte) []int {
	text, _ := cutLineEnd(line)
	if !isRow(line) || bytes.IndexByte(text, '|') < 0 {
		return nil
	}
	var found []int
	for at, b := range text {
		if b == '|' && len(found) < mostFields {
			found = append(found, at)
		}
	}
	return found
}

// isRow reports whether a line has columns: several separated by |, or several named
// values. A few plain words are text.
func isRow(line []byte) bool {
	text, _ := cutLineEnd(line)
	return bytes.Count(text, []byte("|")) > 1 || bytes.Count(text, []byte("=")) > 1 || strings.Count(string(text), "  ") > 2
}

func cutLineEnd(line []byte) (text, end []byte) {
	text = bytes.TrimRight(line, "\r\n")
	return text, line[len(text):]
}

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
