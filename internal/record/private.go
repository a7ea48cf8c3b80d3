package record

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/secret"
)

// phoneParts begin the keys of telephone numbers.
var phoneParts = []string{"phone", "telephone", "tel", "mobile", "fax"}

// kindOfKey returns the kind of the value that follows a key.
func kindOfKey(key string) (kind nameKind, reveals bool) {
	if kind, reveals = revealingKeys()[key]; reveals {
		return kind, true
	}
	if len(key) > 64 {
		return "", false
	}
	key = strings.ToLower(key)
	switch {
	case secret.IsName(key):
		return kindSecret, true
	case slices.Contains(phoneParts, key):
		return kindPhone, true
	}
	return "", false
}

var nextKey = lazyregexp.New(`[ \t]+[A-Za-z_][A-Za-z_:/]*=`)

// learnFreeText learns a text that a user chose: up to the end of the line, of a quotation
// or element, or to the next key.
func (a *Anonymizer) learnFreeText(kind nameKind, value string) {
	if end := strings.IndexAny(value, "\r\n<\"\\"); end >= 0 {
		value = value[:end]
	}
	if value = strings.TrimSpace(nextKey.Split(value, 2)[0]); !strings.Contains(value, "${") { // a reference of a definition
		a.learn(kind, value)
	}
}

// learnSecret learns the word after the key of a secret.
func (a *Anonymizer) learnSecret(value string) {
	value = strings.TrimLeft(value, "\"' ")
	if end := strings.IndexAny(value, " \t\r\n\"',;&<\\"); end >= 0 {
		value = value[:end]
	}
	if value != "" && strings.IndexByte("($", value[0]) < 0 { // not recorded, or a variable
		a.learn(kindSecret, value)
	}
}

// learnElement learns the text of the XML element whose start tag ends at a position.
func (a *Anonymizer) learnElement(text string, at int) {
	from := at
	for from > max(0, at-64) && (isNameByte(text[from-1]) || text[from-1] == '_') {
		from--
	}
	if from == 0 || text[from-1] != '<' {
		return
	}
	switch kind := revealingKeys()[text[from:at]]; kind {
	case "":
	case kindJob, kindComment:
		a.learnFreeText(kind, text[at+1:min(len(text), at+1024)])
	default:
		a.learnBehind(kind, a.learnList(kind, text[at+1:min(len(text), at+1024)]))
	}
}

var (
	domainExpression = lazyregexp.New(`^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$`)
	phoneExpression  = lazyregexp.New(`^(?:\+|00)\d[\d ()/.-]{5,18}\d`)
	localPhone       = lazyregexp.New(`^\(?\d[\d ()/.-]{3,18}\d`)
	plainPhone       = lazyregexp.New(`^\d{3}[-.]\d{3}[-.]\d{4}$`)
)

// genericDomains are endings of host names. Two letters are a country, unless they are in
// fileEndings.
var genericDomains, fileEndings = words("com org net edu gov mil int info cloud"), words("so sh py md rs gz js ts pl ps cc hs db in id")

// learnDomainName learns a word that is a host name with a domain. A country must follow
// at least two labels, since names of programs and files look similar.
func (a *Anonymizer) learnDomainName(word string) {
	word = strings.Trim(word, ".-:")
	if len(word) > 253 || strings.Count(word, ".") == 0 || strings.Contains(word, "..") || !domainExpression.MatchString(word) {
		return
	}
	labels := strings.Split(word, ".")
	last := strings.ToLower(labels[len(labels)-1])
	isCountry := len(last) == 2 && len(labels) > 2 && !fileEndings[last]
	isDocumentation := labels[len(labels)-2] == "example"
	if isDocumentation || !isCountry && !genericDomains[last] || a.isOfPlace(word) {
		return
	}
	if len(labels) == 2 {
		a.learnDomain(word)
		return
	}
	a.learnHost(word)
}

// learnPhone learns the telephone number at a position.
func (a *Anonymizer) learnPhone(text string, expression *lazyregexp.Regexp) {
	number := expression.FindString(text[:min(len(text), 32)])
	digits := 0
	for _, c := range number {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	if digits >= 6 && digits <= 15 {
		a.learn(kindPhone, number)
	}
}

// phoneLike returns an unused number of the same form.
func phoneLike(old string, n int) string {
	number := []byte(old)
	for i := len(number) - 1; i >= 0; i-- {
		if number[i] >= '0' && number[i] <= '9' {
			number[i] = byte('0' + n%10)
			n /= 10
		}
	}
	return string(number)
}

// isJobName reports whether the attribute of this name is a job name.
func isJobName(attribute string) bool {
	letters := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(attribute))
	return letters == "jobname"
}

// systemFolders are the beginnings of paths that reveal nothing.
var systemFolders = []string{"/bin/", "/sbin/", "/usr/", "/lib/", "/lib64/", "/dev/", "/proc/", "/sys/", "/etc/", "/tmp/", "/var/", "/run/", "/home/user"}

// reviewedKeys are keys of names that a site chose and that definitions may depend on.
var reviewedKeys = map[string]nameKind{
	"Partition": "queue", "QOS": "qos", "Reservation": "reservation", "Licenses": "license", "queue": "queue", "Queue": "queue",
}

// mostReviewed limits the texts to review.
const mostReviewed = 1000

var reviewedExpression = lazyregexp.New(`(?:^|[^A-Za-z0-9_./-])(/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)|\b(Partition|QOS|Reservation|Licenses|[Qq]ueue) ?= ?([^\s,"]+)`)

// noteKept notes what remains in a text and may reveal something about a site or person.
func (a *Anonymizer) noteKept(text []byte) {
	for _, found := range reviewedExpression.FindAllStringSubmatch(string(text), mostReviewed) {
		name := KeptName{Kind: "path", Name: found[1], Why: "a definition may depend on it"}
		if len(found[1]) == 0 {
			name.Kind, name.Name = reviewedKeys[found[2]], found[3]
		}
		isOfSystem := slices.ContainsFunc(systemFolders, func(folder string) bool { return strings.HasPrefix(name.Name+"/", folder) })
		if isOfSystem || notPersonal()[strings.ToLower(name.Name)] || len(a.reviewed) >= mostReviewed || slices.Contains(a.reviewed, name) {
			continue
		}
		a.reviewed = append(a.reviewed, name)
	}
}
