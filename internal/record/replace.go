package record

import (
	"bytes"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// replace returns a text with placeholders. It replaces only whole words: no letter or
// digit may precede or follow.
func (a *Anonymizer) replace(text []byte) []byte {
	var out bytes.Buffer
	owed := 0 // bytes by which columns are shifted
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			owed = 0
		case c == ' ':
			end := i
			for end < len(text) && text[end] == ' ' {
				end++
			}
			width := end - i
			if width > 1 {
				width, owed = settleColumn(width, owed)
			}
			for range width {
				out.WriteByte(' ')
			}
			i = end
			continue
		}
		one := a.at(text, i)
		if one == nil {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(one.new)
		owed += len(one.new) - len(one.old)
		i += len(one.old)
		if one.whole != nil {
			one = one.whole
		}
		one.count++
	}
	a.noteKept(out.Bytes())
	return out.Bytes()
}

// replaceText is replace for a text without columns.
func (a *Anonymizer) replaceText(text string) string {
	// A tab is neither a blank nor part of a name, so no run of blanks changes.
	if !strings.Contains(text, "  ") {
		return string(a.replace([]byte(text)))
	}
	parts := strings.Split(text, " ")
	for i, part := range parts {
		parts[i] = string(a.replace([]byte(part)))
	}
	return strings.Join(parts, " ")
}

// settleColumn shrinks or extends a run of blanks to align columns again. One blank always
// stays.
func settleColumn(width, owed int) (settled, still int) {
	if owed > width-1 {
		return 1, owed - (width - 1)
	}
	return width - owed, 0
}

// at returns the name at a position of a text; nil without one.
func (a *Anonymizer) at(text []byte, i int) *literal {
	for _, one := range a.byFirst[text[i]] {
		if bytes.HasPrefix(text[i:], []byte(one.old)) && one.standsAlone(text, i) {
			return one
		}
	}
	return nil
}

// standsAlone reports whether a name in a text is a whole word or number.
func (l *literal) standsAlone(text []byte, i int) bool {
	end := i + len(l.old)
	goesOn := end < len(text) && isNameByte(text[end])
	switch {
	case isNameByte(l.old[0]) && i > 0 && isNameByte(text[i-1]) && !afterEscape(text, i):
		return false
	case l.stem && goesOn && (text[end] < '0' || text[end] > '9'):
		return false
	case !l.stem && goesOn && isNameByte(text[end-1]):
		return false
	}
	return !l.numeric || isIDAt(text, i, end)
}

// afterEscape reports whether the preceding letter belongs to an escape such as \n.
func afterEscape(text []byte, i int) bool {
	return i >= 2 && text[i-2] == '\\' && bytes.IndexByte([]byte("ntr"), text[i-1]) >= 0
}

var beforeID = lazyregexp.New(`(?:\b(?:[Ee]?[Uu][Ii][Dd]|[Ee]?[Gg][Ii][Dd]|[Uu]ser_?[Ii]d|[Gg]roup_?[Ii]d|groups)\s*[=:]?\s*|\bby |/run/user/|[=,]|[A-Za-z0-9_.-]\()$`)

// isIDAt reports whether a number is the id of a user or group there, and not,
// say, that of a job: uid=1000, alice(1000), 1000(alice), CANCELLED by 1000.
func isIDAt(text []byte, from, to int) bool {
	before := beforeID.Find(text[max(0, from-24):from])
	if before == nil {
		return false
	}
	switch last := before[len(before)-1]; last {
	case '(':
		return to < len(text) && text[to] == ')'
	case ',':
		return to < len(text) && text[to] == '('
	case '=':
		return len(before) > 1 || to < len(text) && text[to] == '('
	}
	return true
}
