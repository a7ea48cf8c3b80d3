package cases

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// A Kind tells what a name that is replaced is the name of.
type Kind string

// The kinds of names that are replaced before a recording is written.
const (
	KindUser    Kind = "user"
	KindUserID  Kind = "user id"
	KindGroup   Kind = "group"
	KindGroupID Kind = "group id"
	KindHome    Kind = "home"
	KindHost    Kind = "host"
	KindDomain  Kind = "domain"
	KindCluster Kind = "cluster"
	KindAccount Kind = "account"
	KindMail    Kind = "mail"
	KindAddress Kind = "address"
	KindAsked   Kind = "asked for" // by --replace
)

// notPersonal are names that say nothing of a person or a site: every system
// has them, or they stand for "none".
var notPersonal = words(`root daemon bin sys adm tty disk lp mail news man sync games nobody nogroup nfsnobody wheel users staff
	sudo operator user group account project default normal none null unset unknown any all other host home localhost local
	localdomain domain batch job jobs queue node nodes compute true false yes no n/a na (null) (none) unlimited example.org`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// A revealing expression finds names of a kind by what stands before them in
// the outputs of schedulers. Its group is the name.
type revealing struct {
	kind       Kind
	expression *regexp.Regexp
}

const nameLetters = `([A-Za-z0-9_][A-Za-z0-9_.-]*)`

var revealingExpressions = []revealing{
	// scontrol: UserId=alice(1001) GroupId=physics(2001) MCS_label=N/A
	{KindUser, regexp.MustCompile(`\b(?:UserId|Owner|JobOwner|Login|euser|User)\s*[=:]\s*` + nameLetters)},
	{KindUserID, regexp.MustCompile(`\b(?:UserId|User)\s*[=:]\s*[A-Za-z0-9_.-]+\((\d+)\)`)},
	{KindUserID, regexp.MustCompile(`\b(?:uid|euid|UID)\s*[=:]\s*(\d+)`)},
	{KindUserID, regexp.MustCompile(`\bCANCELLED by (\d+)`)},
	{KindGroup, regexp.MustCompile(`\b(?:GroupId|egroup|group)\s*=\s*` + nameLetters)},
	{KindGroupID, regexp.MustCompile(`\bGroupId\s*=\s*[A-Za-z0-9_.-]+\((\d+)\)`)},
	{KindGroupID, regexp.MustCompile(`\b(?:gid|egid|GID)\s*[=:]\s*(\d+)`)},
	// qstat -f: Job_Owner = alice@login1.site.org, Variable_List = PBS_O_LOGNAME=alice
	{KindUser, regexp.MustCompile(`\b(?:Job_Owner|PBS_O_LOGNAME|LOGNAME|USER|User_List)\s*=\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)`)},
	{KindHost, regexp.MustCompile(`\b(?:Job_Owner\s*=\s*[A-Za-z0-9_.-]+@|(?:PBS_O_HOST|Submit_Host|submit_host|AllocNode:Sid|BatchHost|ReqNodeList|NodeList|NodeName|NodeHostName|NodeAddr|exec_host|exec_vnode|server|server_host)\s*=\s*\(?)([A-Za-z][A-Za-z0-9_.-]*)`)},
	{KindAccount, regexp.MustCompile(`\b(?:Account|Account_Name|account|Project|project|WCKey)\s*[=:]\s*` + nameLetters)},
	{KindCluster, regexp.MustCompile(`\b(?:on cluster|ClusterName\s*=)\s*` + nameLetters)},
	{KindHome, regexp.MustCompile(`\b(?:HOME|PBS_O_HOME)=(/[^\s,:;"']+)`)},
	{KindUser, regexp.MustCompile(`(?:^|[\s"'=:,(])/home/` + nameLetters)},
}

var (
	mailExpression    = regexp.MustCompile(`[A-Za-z0-9._%+-]*[A-Za-z0-9_%+-]@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
	address4          = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}`)
	address6          = regexp.MustCompile(`[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*[0-9A-Fa-f]|[0-9A-Fa-f:]+::`)
	hardwareAddress   = regexp.MustCompile(`[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}`)
	accountOfArgument = regexp.MustCompile(`^--(?:account|project)=(.+)$`)
)

// learnText finds the names that a text reveals by what stands around them.
func (a *Anonymizer) learnText(text string) {
	for _, one := range revealingExpressions {
		for _, found := range one.expression.FindAllStringSubmatch(text, -1) {
			a.learnNames(one.kind, found[1])
		}
	}
	for _, found := range mailExpression.FindAllString(text, -1) {
		a.learnMail(found)
	}
	for _, span := range hardwareAddress.FindAllStringIndex(text, -1) {
		if word := text[span[0]:span[1]]; standsAlone(text, span[0], span[1]) {
			if _, err := net.ParseMAC(word); err == nil {
				a.Learn(KindAddress, word)
			}
		}
	}
	for _, expression := range []*regexp.Regexp{address4, address6} {
		for _, span := range expression.FindAllStringIndex(text, -1) {
			if standsAlone(text, span[0], span[1]) {
				a.learnAddress(text[span[0]:span[1]])
			}
		}
	}
}

// learnNames takes a list such as node1,node2 apart, and strips the dot that ends a sentence.
func (a *Anonymizer) learnNames(kind Kind, list string) {
	for _, name := range strings.Split(list, ",") {
		a.Learn(kind, strings.TrimRight(name, ".-"))
	}
}

// learnMail replaces a mail address as a whole. A host in it, as in owner@host
// of a job, is one of the place.
func (a *Anonymizer) learnMail(mail string) {
	_, domain, _ := strings.Cut(mail, "@")
	if a.isOfPlace(domain) {
		a.Learn(KindHost, domain)
		local, _, _ := strings.Cut(mail, "@")
		a.Learn(KindUser, local)
		return
	}
	a.Learn(KindMail, mail)
}

// isOfPlace reports whether a name ends in a domain that is known.
func (a *Anonymizer) isOfPlace(name string) bool {
	for _, known := range a.literals {
		if known.kind == KindDomain && (name == known.old || strings.HasSuffix(name, "."+known.old)) {
			return true
		}
	}
	return slices.ContainsFunc(a.literals, func(known *literal) bool { return known.kind == KindHost && known.old == name })
}

// learnAddress leaves out addresses that every machine has.
func (a *Anonymizer) learnAddress(text string) {
	address, err := netip.ParseAddr(text)
	if err != nil || address.IsLoopback() || address.IsUnspecified() || address.IsMulticast() {
		return
	}
	a.Learn(KindAddress, text)
}

// standsAlone reports whether no letter, digit, dot or colon goes on where a
// name begins or ends: 22.05.8.1 in "v22.05.8.1.2" is no address.
func standsAlone(text string, from, to int) bool {
	goesOn := func(c byte) bool { return isNameByte(c) || c == '.' || c == ':' }
	if from > 0 && (isNameByte(text[from-1]) || text[from-1] == '.' || text[from-1] == ':' && !strings.Contains(text[from:to], ".")) {
		return false
	}
	if to == len(text) || !goesOn(text[to]) {
		return true
	}
	// A dot or a colon may end a sentence or begin a port.
	if text[to] == '.' {
		return to+1 == len(text) || !isNameByte(text[to+1])
	}
	return text[to] == ':' && strings.Contains(text[from:to], ".")
}

func isNameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// LearnArguments finds the accounts of a command line: what follows -A,
// --account and --project.
func (a *Anonymizer) LearnArguments(words []string) {
	for i, word := range words {
		if found := accountOfArgument.FindStringSubmatch(word); found != nil {
			a.learnNames(KindAccount, found[1])
		}
		isFlag := word == "-A" || word == "--account" || word == "--project"
		if isFlag && i+1 < len(words) {
			a.learnNames(KindAccount, words[i+1])
		}
	}
}

// IsAccount reports whether an attribute of that name holds an account.
func IsAccount(attribute string) bool {
	name := strings.ToLower(attribute)
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' }),
		func(part string) bool {
			return part == "account" || part == "project" || part == "accountname" || part == "projectname"
		})
}
