package record

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/sorting"
)

// An Anonymizer replaces names of persons and places by placeholders, each name by the
// same one everywhere. It works in three steps: it learns names from all texts, chooses
// placeholders, and replaces the names. It is not safe for concurrent use.
//
// The user, the host and the home directory become those of cases: user, login and
// /home/user. Other placeholders keep the width of their names as far as their kind
// permits.
type Anonymizer struct {
	literals   []*literal
	known      map[string]*literal
	byFirst    map[byte][]*literal // the longest first; made by settle
	vocabulary map[string]bool     // words that the definition itself uses
	seen       map[string]bool     // words of the texts, which no placeholder may be
	numbers    map[nameKind]int
	kept       []KeptName
	reviewed   []KeptName // found in the texts and not replaced
}

// A literal is a text that is replaced.
type literal struct {
	kind     nameKind
	old, new string
	count    int
	whole    *literal // the whole name if old is a truncated one, as in narrow columns
	numeric  bool     // replaced only where a number is an id of a user or group
	stem     bool     // digits may follow, as in node01 or node[01-04]
}

// A Replacement is one name that was replaced.
type Replacement struct {
	Kind  nameKind `json:"kind"`
	Old   string   `json:"old"`
	New   string   `json:"new"`
	Count int      `json:"count"` // how often
}

// A KeptName is a name that was found and not replaced.
type KeptName struct {
	Kind nameKind `json:"kind"`
	Name string   `json:"name"`
	Why  string   `json:"why"`
}

// NewAnonymizer returns an anonymizer for recordings of a definition with these source
// texts. It keeps names that are also words of the definition, which would otherwise read
// something else.
func NewAnonymizer(definition ...[]byte) *Anonymizer {
	a := &Anonymizer{known: map[string]*literal{}, vocabulary: map[string]bool{}, seen: map[string]bool{}, numbers: map[nameKind]int{}}
	for _, source := range definition {
		addWords(a.vocabulary, source)
	}
	return a
}

// Person sets the user and the home directory of the recording.
func (a *Anonymizer) Person(user, home string) {
	if user != "" && !a.keeps(kindUser, user, 2) {
		a.add(&literal{kind: kindUser, old: user, new: cases.Place{}.Info().User})
	}
	if strings.Count(home, "/") > 0 && home != "/" {
		a.add(&literal{kind: kindHome, old: strings.TrimRight(home, "/"), new: cases.Place{}.Info().Home})
	}
}

// Place sets the host of the recording, with its domain if known.
func (a *Anonymizer) Place(host string) {
	short, domain, _ := strings.Cut(host, ".")
	if !notPersonal()[strings.ToLower(short)] && !a.keeps(kindHost, short, 2) {
		a.add(&literal{kind: kindHost, old: short, new: cases.Place{}.Info().Host})
	}
	a.learnDomain(domain)
}

// Ask replaces exactly old by new, before all other names.
func (a *Anonymizer) Ask(old, new string) error {
	if old == "" {
		return fmt.Errorf("nothing to replace by %q", new)
	}
	a.literals = slices.DeleteFunc(a.literals, func(known *literal) bool { return known.old == old })
	delete(a.known, old)
	a.add(&literal{kind: kindAsked, old: old, new: new})
	return nil
}

// learn adds a name to replace, unless every system has it.
func (a *Anonymizer) learn(kind nameKind, name string) {
	if name == "" || a.known[name] != nil || notPersonal()[strings.ToLower(name)] {
		return
	}
	switch kind {
	case kindUserID, kindGroupID:
		if len(name) >= 4 && strings.Trim(name, "0123456789") == "" { // smaller ones are the system's own
			a.add(&literal{kind: kind, old: name, numeric: true})
		}
	case kindHost:
		a.learnHost(name)
	case kindDomain:
		a.learnDomain(name)
	case kindMail, kindAddress, kindPhone:
		a.add(&literal{kind: kind, old: name})
	case kindHome:
		if strings.Count(name, "/") > 1 {
			a.add(&literal{kind: kind, old: name})
		}
	case kindJob, kindComment, kindSecret:
		if !a.keeps(kind, name, 3) {
			a.add(&literal{kind: kind, old: name})
		}
	default:
		if !a.keeps(kind, name, 2) {
			a.add(&literal{kind: kind, old: name})
		}
	}
}

// learnHost learns the parts of a host's name: the stem that related hosts share, the
// digits, which stay, and the domain.
func (a *Anonymizer) learnHost(name string) {
	if _, err := netip.ParseAddr(name); err == nil {
		return // addresses are found by their form
	}
	short, domain, _ := strings.Cut(name, ".")
	a.learnDomain(domain)
	stem := strings.TrimRight(short, "0123456789")
	switch {
	case a.known[short] != nil, a.known[stem] != nil, notPersonal()[strings.ToLower(stem)]:
	case a.vocabulary[stem] && stem != short:
		if !a.keeps(kindHost, short, 3) {
			a.add(&literal{kind: kindHost, old: short})
		}
	case !a.keeps(kindHost, stem, 3):
		a.add(&literal{kind: kindHost, old: stem, stem: true})
	}
}

func (a *Anonymizer) learnDomain(domain string) {
	domain = strings.Trim(domain, ".")
	if domain == "" || a.known[domain] != nil || notPersonal()[strings.ToLower(domain)] {
		return
	}
	if strings.Contains(domain, ".") || !a.keeps(kindDomain, domain, 3) {
		a.add(&literal{kind: kindDomain, old: domain})
	}
	if labels := strings.Split(domain, "."); len(labels) > 2 {
		a.learnDomain(strings.Join(labels[len(labels)-2:], "."))
	}
}

// keeps reports whether a name cannot be distinguished from other text, and notes that.
func (a *Anonymizer) keeps(kind nameKind, name string, shortest int) bool {
	why := ""
	switch {
	case len(name) < shortest:
		why = "it is too short to recognize"
	case strings.Trim(name, "0123456789") == "":
		why = "it is a number"
	case a.vocabulary[name]:
		why = "the definition uses the same word"
	default:
		return false
	}
	found := KeptName{kind, name, why}
	if name != "" && !slices.Contains(a.kept, found) {
		a.kept = append(a.kept, found)
	}
	return true
}

func (a *Anonymizer) add(one *literal) {
	if a.known[one.old] != nil {
		return
	}
	a.known[one.old] = one
	a.literals = append(a.literals, one)
}

// Text learns the names in a text by what schedulers print before them.
func (a *Anonymizer) Text(text []byte) {
	addWords(a.seen, text)
	a.learnText(string(text))
}

func addWords(to map[string]bool, text []byte) {
	for start := 0; start < len(text); {
		if !isNameByte(text[start]) {
			start++
			continue
		}
		end := start
		for end < len(text) && (isNameByte(text[end]) || text[end] == '_' || text[end] == '-' && end+1 < len(text) && isNameByte(text[end+1])) {
			end++
		}
		to[string(text[start:end])] = true
		for _, part := range strings.FieldsFunc(string(text[start:end]), func(r rune) bool { return r == '_' || r == '-' }) {
			to[part] = true
		}
		start = end
	}
}

// settle chooses a placeholder for every name.
func (a *Anonymizer) settle() {
	taken := map[string]bool{}
	for _, one := range a.literals {
		taken[one.old], taken[one.new] = true, true
	}
	for _, one := range a.literals {
		if one.new == "" && one.kind != kindAsked {
			one.new = a.placeholder(one, func(candidate string) bool { return !taken[candidate] && !a.seen[candidate] })
			taken[one.new] = true
		}
	}
	a.byFirst = map[byte][]*literal{}
	for _, one := range a.literals {
		a.byFirst[one.old[0]] = append(a.byFirst[one.old[0]], one)
		for _, short := range a.shortened(one) {
			a.byFirst[short.old[0]] = append(a.byFirst[short.old[0]], short)
		}
	}
	for _, all := range a.byFirst {
		slices.SortStableFunc(all, func(x, y *literal) int {
			return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(len(y.old), len(x.old)))
		})
	}
}

// rank puts what --replace names first, and the beginnings of names last.
func rank(one *literal) int {
	switch {
	case one.kind == kindAsked:
		return 0
	case one.whole != nil:
		return 2
	}
	return 1
}

// shownWidths are the widths at which listings truncate names: squeue at 8, qstat at 10,
// 15 and 16. sacct shows one letter less and a "+", qstat a "*".
var shownWidths = []int{8, 10, 15, 16}

// shortened returns a truncated name.
func (a *Anonymizer) shortened(one *literal) []*literal {
	var short []*literal
	switch one.kind {
	case kindUser, kindGroup, kindAccount, kindHost, kindCluster, kindJob:
	default:
		return nil
	}
	add := func(width int, mark string) {
		if width < 4 || len(one.old) <= width || one.stem {
			return
		}
		cut := one.new
		if len(cut) > width {
			cut = cut[:width]
		}
		if old := one.old[:width]; a.known[old] == nil && !a.vocabulary[old] {
			short = append(short, &literal{kind: one.kind, old: old + mark, new: cut + mark, whole: one})
		}
	}
	for _, width := range shownWidths {
		add(width, "")
		add(width-1, "+")
		add(width-1, "*")
	}
	return short
}

// placeholder returns the first free name of a kind.
func (a *Anonymizer) placeholder(one *literal, free func(string) bool) string {
	for {
		a.numbers[one.kind]++
		if candidate := numbered(one, a.numbers[one.kind]); free(candidate) {
			return candidate
		}
	}
}

func numbered(one *literal, n int) string {
	width := len(one.old)
	switch one.kind {
	case kindUserID, kindGroupID:
		base := "9" + strings.Repeat("0", width-1)
		return base[:max(0, width-len(fmt.Sprint(n)))] + fmt.Sprint(n)
	case kindHost:
		return fitted("host", letters(n), width)
	case kindDomain:
		if n <= 3 {
			return "example." + []string{"org", "net", "com"}[n-1]
		}
		return fmt.Sprintf("site%d.example", n)
	case kindMail:
		return fmt.Sprintf("mail%d@example.org", n)
	case kindHome:
		return fmt.Sprintf("/home/user%d", n)
	case kindAddress:
		return address(one.old, n)
	case kindPhone:
		return phoneLike(one.old, n)
	case kindJob:
		return fitted("job", fmt.Sprint(n), width)
	}
	return fitted(string(one.kind), fmt.Sprint(n), width)
}

// fitted joins a stem and a number to a name of that width, if it is not too narrow.
func fitted(stem, number string, width int) string {
	room := max(1, width-len(number))
	name := stem[:min(len(stem), room)] + number
	return name + strings.Repeat("x", max(0, width-len(name)))
}

// letters counts a, b, … z, aa, ab, …
func letters(n int) string {
	text := ""
	for ; n > 0; n = (n - 1) / 26 {
		text = string(rune('a'+(n-1)%26)) + text
	}
	return text
}

// address returns an address reserved for documentation (RFC 5737, RFC 3849, RFC 7042), in
// the notation of the old one.
func address(old string, n int) string {
	switch {
	case strings.Count(old, ".") == 3 && !strings.Contains(old, ":"):
		networks := []string{"192.0.2", "198.51.100", "203.0.113"}
		if n <= 254*len(networks) {
			return fmt.Sprintf("%s.%d", networks[(n-1)/254], (n-1)%254+1)
		}
		return fmt.Sprintf("240.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
	case strings.Count(old, ":") == 5 && len(old) == 17, strings.Count(old, "-") == 5:
		separator := old[2:3]
		return strings.Join([]string{"00", "00", "5e", fmt.Sprintf("%02x", n>>16&0xff), fmt.Sprintf("%02x", n>>8&0xff), fmt.Sprintf("%02x", n&0xff)}, separator)
	}
	return fmt.Sprintf("2001:db8::%x", n)
}

// Replacements returns the replaced names by kind, each kind in the order in which the
// names were learned.
func (a *Anonymizer) Replacements() []Replacement {
	var replaced []Replacement
	for _, one := range a.literals {
		if one.count > 0 {
			replaced = append(replaced, Replacement{one.kind, one.old, one.new, one.count})
		}
	}
	sorting.Stable(replaced, func(x, y Replacement) int { return cmp.Compare(x.Kind, y.Kind) })
	return replaced
}

// Kept returns the names that were found and not replaced, with the reasons.
func (a *Anonymizer) Kept() []KeptName {
	kept := slices.DeleteFunc(slices.Clone(a.kept), func(name KeptName) bool { return !a.seen[name.Name] })
	return append(kept, a.reviewed...)
}
