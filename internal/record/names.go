package record

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// A nameKind is a kind of names to replace.
type nameKind string

// The kinds of names to replace.
const (
	kindUser    nameKind = "user"
	kindUserID  nameKind = "user id"
	kindGroup   nameKind = "group"
	kindGroupID nameKind = "group id"
	kindHome    nameKind = "home"
	kindHost    nameKind = "host"
	kindDomain  nameKind = "domain"
	kindCluster nameKind = "cluster"
	kindAccount nameKind = "account"
	kindMail    nameKind = "mail"
	kindAddress nameKind = "address"
	kindJob     nameKind = "job name"
	kindComment nameKind = "comment"
	kindSecret  nameKind = "secret"
	kindPhone   nameKind = "phone"
	kindAsked   nameKind = "asked for" // by --replace
)

// notPersonal are names that reveal nothing about a person or site: every system has them,
// or they mean "none".
var notPersonal = sync.OnceValue(func() map[string]bool {
	return words(`root daemon bin sys adm tty disk lp mail news man sync games nobody nogroup nfsnobody wheel users staff
	sudo operator user group account project default normal none null unset unknown any all other host home localhost local
	localdomain domain batch job jobs queue node nodes compute true false yes no n n/a na sge _pbs_project_default (null) (none) unlimited example.org www rmctl ptp_job stdin wrap interactive allocation bash`)
})

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// revealingKeys are the kinds of names by the key before them: Key=name, Key = name or
// Key: name.
var revealingKeys = sync.OnceValue(func() map[string]nameKind {
	return map[string]nameKind{
		"UserId": kindUser, "User": kindUser, "Owner": kindUser, "owner": kindUser, "Login": kindUser, "euser": kindUser, "Job_Owner": kindUser,
		"PBS_O_LOGNAME": kindUser, "LOGNAME": kindUser, "USER": kindUser, "sge_o_log_name": kindUser,
		"GroupId": kindGroup, "egroup": kindGroup, "group": kindGroup,
		"uid": kindUserID, "euid": kindUserID, "UID": kindUserID, "gid": kindGroupID, "egid": kindGroupID, "GID": kindGroupID,
		"Account": kindAccount, "Account_Name": kindAccount, "account": kindAccount, "Project": kindAccount, "project": kindAccount, "WCKey": kindAccount,
		"PBS_O_HOST": kindHost, "Submit_Host": kindHost, "submit_host": kindHost, "sge_o_host": kindHost, "Sid": kindHost, "BatchHost": kindHost,
		"NodeList": kindHost, "ReqNodeList": kindHost, "ExcNodeList": kindHost, "SchedNodeList": kindHost, "NodeName": kindHost, "NodeHostName": kindHost,
		"NodeAddr": kindHost, "exec_host": kindHost, "exec_vnode": kindHost, "server_host": kindHost, "hostname": kindHost, "HOSTNAME": kindHost,
		"Nodes": kindHost, "AllocNodes": kindHost, "Users": kindUser, "AllowGroups": kindGroup, "AllowAccounts": kindAccount, "DenyAccounts": kindAccount,
		"ClusterName": kindCluster,
		"JobName":     kindJob, "Job_Name": kindJob, "job_name": kindJob, "jobname": kindJob, "JB_job_name": kindJob, "JB_name": kindJob, "PBS_JOBNAME": kindJob,
		"Comment": kindComment, "AdminComment": kindComment, "SystemComment": kindComment, "Extra": kindComment,
		"JB_owner": kindUser, "user_name": kindUser, "group_name": kindGroup, "account_name": kindAccount, "JB_project": kindAccount,
		"HOME": kindHome, "PBS_O_HOME": kindHome, "sge_o_home": kindHome,
	}
})

// revealingWords are words that precede a name.
var revealingWords = map[string]nameKind{" on cluster ": kindCluster, "CANCELLED by ": kindUserID, "/home/": kindUser, "Job Name <": kindJob, ", User <": kindUser, "Project <": kindAccount}

// learnText learns the names in a text by their context.
func (a *Anonymizer) learnText(text string) {
	for words, kind := range revealingWords {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, words)
			if !found {
				break
			}
			a.learn(kind, leadingName(after))
			rest = after
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '=' || c == ':':
			a.learnValue(text, i)
		case c == '>':
			a.learnElement(text, i)
		case c == '@':
			a.learnMail(text, i)
		case c == '+' && (i == 0 || !isNameByte(text[i-1])):
			a.learnPhone(text[i:], phoneExpression)
		}
		if isAddressByte(text[i]) && (i == 0 || !isAddressByte(text[i-1])) {
			a.learnAddress(text, i)
		}
	}
}

// learnValue learns the value of a key. The value may be empty: what follows a blank is
// then the next key.
func (a *Anonymizer) learnValue(text string, at int) {
	key, end := keyBefore(text, at)
	kind, reveals := kindOfKey(key)
	if !reveals {
		return
	}
	value := text[end:min(len(text), end+1024)]
	if value == "" || strings.IndexByte("@%|$", value[0]) >= 0 { // of a format, such as NodeList:@ or Name=%N
		return
	}
	switch kind {
	case kindJob, kindComment:
		a.learnFreeText(kind, value)
		return
	case kindSecret:
		a.learnSecret(value)
		return
	case kindPhone:
		a.learnPhone(value, localPhone)
		return
	}
	value = strings.TrimLeft(value, "(")
	switch kind {
	case kindHome:
		a.learn(kind, strings.TrimRight(value[:len(value)-len(strings.TrimLeft(value, homeLetters))], "/."))
	case kindHost:
		a.learnNodes(untilBlank(value))
	default:
		a.learnBehind(kind, a.learnList(kind, value))
	}
}

// keyBefore returns the key before an assignment sign, and where its value begins.
func keyBefore(text string, at int) (key string, value int) {
	begin, end := at, at+1
	if at > 0 && text[at-1] == ' ' && text[at] == '=' { // Key = value
		begin--
		if end < len(text) && text[end] == ' ' {
			end++
		}
	}
	for text[at] == ':' && end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	begin, end = withoutQuotes(text, begin, end)
	from := begin
	for from > 0 && (isNameByte(text[from-1]) || text[from-1] == '_') {
		from--
	}
	return text[from:begin], end
}

// withoutQuotes removes JSON's quotes around a key and before its value.
func withoutQuotes(text string, key, value int) (keyEnd, valueBegin int) {
	if key == 0 || text[key-1] != '"' {
		return key, value
	}
	if value < len(text) && text[value] == '"' {
		value++
	}
	return key - 1, value
}

// learnList learns the names at the beginning of a value, and returns the rest.
func (a *Anonymizer) learnList(kind nameKind, value string) string {
	for {
		name := leadingName(value)
		value = value[len(name):]
		if strings.HasPrefix(value, "=") { // the key of a further variable
			return value
		}
		a.learn(kind, strings.TrimRight(name, ".-"))
		if name == "" || !strings.HasPrefix(value, ",") { // node1,node2
			return value
		}
		value = value[1:]
	}
}

// learnBehind learns what follows a name: a number or a host.
func (a *Anonymizer) learnBehind(kind nameKind, rest string) {
	numbers := map[nameKind]nameKind{kindUser: kindUserID, kindGroup: kindGroupID}
	if number, _, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")"); closed && strings.HasPrefix(rest, "(") && numbers[kind] != "" {
		a.learn(numbers[kind], number) // alice(1001)
	}
	if host, at := strings.CutPrefix(rest, "@"); at && kind == kindUser { // alice@login1.site.org
		a.learn(kindHost, leadingName(host))
	}
}

func untilBlank(text string) string {
	if at := strings.IndexAny(text, " \t\r\n"); at >= 0 {
		return text[:at]
	}
	return text
}

const homeLetters = "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// leadingName returns the name at the beginning of a text; empty without one.
func leadingName(text string) string {
	end := 0
	for end < len(text) && (isNameByte(text[end]) || text[end] == '_' || end > 0 && (text[end] == '.' || text[end] == '-')) {
		end++
	}
	return text[:end]
}

var mailExpression = lazyregexp.New(`^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$`)

// learnMail learns the whole mail address around an @. A known host in it, as in
// owner@host of a job, is not an address.
func (a *Anonymizer) learnMail(text string, at int) {
	from, to := at, at+1
	for from > max(0, at-128) && (isNameByte(text[from-1]) || strings.IndexByte("._%+-", text[from-1]) >= 0) {
		from--
	}
	for to < min(len(text), at+256) && (isNameByte(text[to]) || text[to] == '.' || text[to] == '-') {
		to++
	}
	mail := strings.TrimRight(text[from:to], ".-")
	if !mailExpression.MatchString(mail) {
		return
	}
	local, domain, _ := strings.Cut(mail, "@")
	if a.isOfPlace(domain) {
		a.learn(kindHost, domain)
		a.learn(kindUser, local)
		return
	}
	a.learn(kindMail, mail)
}

// isOfPlace reports whether a name is, or ends in, a known host or domain.
func (a *Anonymizer) isOfPlace(name string) bool {
	return slices.ContainsFunc(a.literals, func(known *literal) bool {
		return (known.kind == kindDomain || known.kind == kindHost) && (name == known.old || strings.HasSuffix(name, "."+known.old))
	})
}

func isAddressByte(c byte) bool {
	return isNameByte(c) || c == '.' || c == ':' || c == '-'
}

// learnAddress learns the address at a position, with or without a port, unless every
// machine has it.
func (a *Anonymizer) learnAddress(text string, from int) {
	to := from
	for to < min(len(text), from+64) && isAddressByte(text[to]) {
		to++
	}
	word := strings.TrimRight(text[from:to], ".:-")
	if port := strings.LastIndexByte(word, ':'); port > 0 && strings.Count(word, ".") == 3 && strings.Count(word, ":") == 1 {
		word = word[:port]
	}
	if len(word) == len("00:00:00:00:00:00") {
		if _, err := net.ParseMAC(word); err == nil {
			a.learn(kindAddress, word)
			return
		}
	}
	if plainPhone.MatchString(word) {
		a.learn(kindPhone, word)
	}
	a.learnDomainName(word)
	if strings.Count(word, ".") != 3 && strings.Count(word, ":") < 2 {
		return
	}
	address, err := netip.ParseAddr(word)
	if err != nil || address.IsLoopback() || address.IsUnspecified() || address.IsMulticast() {
		return
	}
	a.learn(kindAddress, word)
}

func isNameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// learnNames learns the names in a list such as node1,node2, without the dot that ends a
// sentence.
func (a *Anonymizer) learnNames(kind nameKind, list string) {
	for _, name := range strings.Split(list, ",") {
		a.learn(kind, strings.TrimRight(name, ".-"))
	}
}

// learnNodes learns the hosts of a job in any notation: node[01-04],other07 or
// (node01:ncpus=2)+(node02:ncpus=2) or node01/0*2.
func (a *Anonymizer) learnNodes(list string) {
	depth := 0
	isSeparator := func(r rune) bool {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		return depth == 0 && (r == ',' || r == '+' || r == ' ')
	}
	for _, node := range strings.FieldsFunc(list, isSeparator) {
		node = strings.TrimLeft(node, "(")
		if name := leadingName(node); !strings.HasPrefix(node[len(name):], "=") { // the key of a further variable
			a.learn(kindHost, strings.TrimRight(name, ".-"))
		}
	}
}

var accountOfArgument = lazyregexp.New(`^--(?:account|project)=(.+)$`)

var jobNameOfArgument = lazyregexp.New(`^--(?:job-name|name)=(.+)$`)

// learnArguments learns the accounts in a command line, which follow -A, --account and
// --project, and the names of jobs.
func (a *Anonymizer) learnArguments(words []string) {
	for i, word := range words {
		if found := accountOfArgument.FindStringSubmatch(word); found != nil {
			a.learnNames(kindAccount, found[1])
		}
		if found := jobNameOfArgument.FindStringSubmatch(word); found != nil {
			a.learn(kindJob, found[1])
		}
		isFlag := word == "-A" || word == "--account" || word == "--project"
		if isFlag && i+1 < len(words) {
			a.learnNames(kindAccount, words[i+1])
		}
		if (word == "-J" || word == "--job-name") && i+1 < len(words) {
			a.learn(kindJob, words[i+1])
		}
	}
}

// isAccount reports whether the attribute of this name is an account.
func isAccount(attribute string) bool {
	name := strings.ToLower(attribute)
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' }),
		func(part string) bool {
			return part == "account" || part == "project" || part == "accountname" || part == "projectname"
		})
}
