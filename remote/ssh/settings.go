package ssh

import (
	"cmp"
	"context"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// settings are the settings of ssh_config for one host. Paths are complete.
type settings struct {
	alias string // as the user calls the host
	host  string // its name or address in the network
	user  string
	port  int

	addressFamily  string // any, inet or inet6
	bindAddress    string
	connectTimeout time.Duration
	tcpKeepAlive   bool
	aliveInterval  time.Duration
	aliveCount     int
	proxyJump      string // as written; empty for none
	proxyCommand   string // with its tokens replaced; empty for none

	hostKeyAlias       string
	hostKeyAlgorithms  []string
	userKnownHosts     []string
	globalKnownHosts   []string
	hashKnownHosts     bool
	strictHostKeyCheck string // yes, ask, accept-new or no
	ciphers            []string
	macs               []string
	keyExchanges       []string

	identityFiles     []string
	certificateFiles  []string
	identitiesOnly    bool
	identityAgent     string // a socket; empty for none
	preferred         []string
	publicKeys        bool
	publicKeyKinds    []string
	passwords         bool
	interactive       bool
	passwordPrompts   int
	batch             bool
	gssapi            bool
	forwardAgent      string // a socket; empty for not at all
	xauth             string
	environment       map[string]string
	namesControlPath  bool
	namesHardwareKeys bool
}

// Defaults for settings that ssh_config does not set.
const (
	defaultConnectTimeout = 15 * time.Second
	defaultAliveInterval  = 30 * time.Second // OpenSSH sends nothing by default: an idle connection would die unnoticed
	defaultAliveCount     = 3
	maxFiles              = 64 // of a kind; x/crypto gives up after that many keys
)

// values are the settings of one host by lower-case name, as in the file or as ssh -G
// prints them.
type values map[string][]string

func (v values) first(name string) string {
	if len(v[name]) == 0 {
		return ""
	}
	return v[name][0]
}

func (v values) yes(name string, otherwise bool) bool {
	switch strings.ToLower(v.first(name)) {
	case "yes", "true":
		return true
	case "no", "false":
		return false
	}
	return otherwise
}

func (v values) number(name string, otherwise int) (int, error) {
	text := v.first(name)
	if text == "" || text == "none" {
		return otherwise, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("%s %q in ssh_config is not a number", name, text)
	}
	return number, nil
}

func (v values) duration(name string, otherwise time.Duration) (time.Duration, error) {
	text := v.first(name)
	if text == "" || text == "none" {
		return otherwise, nil
	}
	length, err := parseTime(text)
	if err != nil {
		return 0, fmt.Errorf("%s in ssh_config: %w", name, err)
	}
	if length == 0 {
		return otherwise, nil
	}
	return length, nil
}

var timeForm = lazyregexp.New(`^(?:\d+[smhdw])*(?:\d+[smhdw]?)$`)
var timePart = lazyregexp.New(`(\d+)([smhdw]?)`)

// parseTime reads a time as sshd_config(5) describes it under TIME FORMATS:
// 90, 1m30s, 2h.
func parseTime(text string) (time.Duration, error) {
	text = strings.ToLower(text)
	if !timeForm.MatchString(text) {
		return 0, fmt.Errorf("%q is not a time such as 90 or 1m30s", text)
	}
	units := map[string]time.Duration{"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	const longest = 10 * 365 * 24 * time.Hour
	var total time.Duration
	for _, part := range timePart.FindAllStringSubmatch(text, -1) {
		number, err := strconv.Atoi(part[1])
		unit := units[part[2]]
		if err != nil {
			return 0, fmt.Errorf("%q is not a time such as 90 or 1m30s", text)
		}
		if time.Duration(number) > (longest-total)/unit {
			return 0, fmt.Errorf("time %q is too long", text)
		}
		total += time.Duration(number) * unit
	}
	return total, nil
}

// destination is a host that the user names, or a jump host.
type destination struct {
	host string
	user string // empty for what ssh_config says
	port int    // 0 for what ssh_config says
}

// parseDestination splits user@host and ssh://user@host:port, and with hasPort
// user@host:port as well.
func parseDestination(written string, hasPort bool) destination {
	var to destination
	host, isURL := strings.CutPrefix(written, "ssh://")
	if isURL {
		host = strings.TrimSuffix(host, "/")
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		to.user, host = host[:at], host[at+1:]
	}
	to.host = host
	if isURL || hasPort {
		to.host, to.port = splitPort(host)
	}
	return to
}

// readSettings reads the settings of a host from the ssh program if there is one, as it
// understands all of ssh_config, and otherwise from the files.
func readSettings(ctx context.Context, options Options, to destination) (settings, error) {
	account, err := user.Current()
	if err != nil {
		return settings{}, fmt.Errorf("finding the user: %w", err)
	}
	program, found := findProgram(options)
	var read values
	if found {
		read, err = askProgram(ctx, program, options.ConfigFile, to)
	} else {
		read, err = readFiles(options.ConfigFile, account, to)
	}
	if err != nil {
		return settings{}, err
	}
	return newSettings(read, to, account)
}

// checkHost refuses names that ssh or a shell would take for something else.
func checkHost(host string) error {
	if host == "" {
		return fmt.Errorf("no host is named")
	}
	if host[0] == '-' || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f }) || strings.ContainsAny(host, "'`\"$\\;&<>|(){},*?!") {
		return fmt.Errorf("%q cannot be the name of a host", host)
	}
	return nil
}

// newSettings turns values into settings, with defaults for the rest.
func newSettings(read values, to destination, account *user.User) (settings, error) {
	s := settings{
		alias:              to.host,
		host:               cmp.Or(read.first("hostname"), to.host),
		user:               cmp.Or(read.first("user"), account.Username),
		addressFamily:      cmp.Or(read.first("addressfamily"), "any"),
		bindAddress:        read.first("bindaddress"),
		tcpKeepAlive:       read.yes("tcpkeepalive", true),
		proxyJump:          unlessNone(read.first("proxyjump")),
		hostKeyAlias:       unlessNone(read.first("hostkeyalias")),
		hashKnownHosts:     read.yes("hashknownhosts", false),
		strictHostKeyCheck: strictness(read.first("stricthostkeychecking")),
		identitiesOnly:     read.yes("identitiesonly", false),
		publicKeys:         read.yes("pubkeyauthentication", true),
		passwords:          read.yes("passwordauthentication", true),
		interactive:        read.yes("kbdinteractiveauthentication", read.yes("challengeresponseauthentication", true)),
		batch:              read.yes("batchmode", false),
		gssapi:             read.yes("gssapiauthentication", false),
		xauth:              cmp.Or(read.first("xauthlocation"), "xauth"),
		ciphers:            list(read.first("ciphers")),
		macs:               list(read.first("macs")),
		keyExchanges:       list(read.first("kexalgorithms")),
		hostKeyAlgorithms:  list(read.first("hostkeyalgorithms")),
		publicKeyKinds:     list(read.first("pubkeyacceptedalgorithms")),
		preferred:          list(read.first("preferredauthentications")),
		environment:        map[string]string{},
		namesControlPath:   unlessNone(read.first("controlpath")) != "",
	}
	if len(s.preferred) == 0 {
		s.preferred = []string{"gssapi-with-mic", "hostbased", "publickey", "keyboard-interactive", "password"}
	}
	if err := s.readNumbers(read); err != nil {
		return settings{}, err
	}
	expand := newTokens(&s, account)
	if err := s.readPaths(read, expand); err != nil {
		return settings{}, err
	}
	for _, assignments := range read["setenv"] {
		for _, assignment := range strings.Fields(assignments) {
			if name, value, ok := strings.Cut(assignment, "="); ok {
				s.environment[name] = strings.Trim(value, `"`)
			}
		}
	}
	if command := unlessNone(read.first("proxycommand")); command != "" {
		var err error
		if s.proxyCommand, err = expand.tokens("ProxyCommand", command); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

func (s *settings) readNumbers(read values) error {
	var failures [6]error
	s.port, failures[0] = read.number("port", 22)
	if failures[0] == nil && (s.port < 1 || s.port > 65535) {
		failures[1] = fmt.Errorf("invalid port %d in ssh_config", s.port)
	}
	s.passwordPrompts, failures[2] = read.number("numberofpasswordprompts", 3)
	s.aliveCount, failures[3] = read.number("serveralivecountmax", defaultAliveCount)
	s.aliveCount = max(s.aliveCount, 1)
	s.connectTimeout, failures[4] = read.duration("connecttimeout", defaultConnectTimeout)
	s.aliveInterval, failures[5] = read.duration("serveraliveinterval", defaultAliveInterval)
	return cmp.Or(failures[:]...)
}

func (s *settings) readPaths(read values, expand tokens) error {
	identities := read["identityfile"]
	if len(identities) == 0 {
		for _, name := range defaultIdentities {
			identities = append(identities, "~/.ssh/"+name)
		}
	}
	known := fields(read["userknownhostsfile"])
	if len(known) == 0 {
		known = []string{"~/.ssh/known_hosts", "~/.ssh/known_hosts2"}
	}
	global := fields(read["globalknownhostsfile"])
	if len(global) == 0 {
		global = []string{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
	}
	for _, paths := range []struct {
		name string
		from []string
		to   *[]string
	}{
		{"IdentityFile", identities, &s.identityFiles},
		{"CertificateFile", read["certificatefile"], &s.certificateFiles},
		{"UserKnownHostsFile", known, &s.userKnownHosts},
		{"GlobalKnownHostsFile", global, &s.globalKnownHosts},
	} {
		for _, written := range paths.from[:min(len(paths.from), maxFiles)] {
			if written = unquote(written); written == "none" {
				continue
			}
			path, err := expand.path(paths.name, written)
			if err != nil {
				return err
			}
			*paths.to = append(*paths.to, path)
		}
	}
	s.namesHardwareKeys = slices.ContainsFunc(s.identityFiles, func(path string) bool {
		return strings.HasSuffix(path, "_sk") && !slices.Contains(defaultIdentities, filepath.Base(path))
	})
	var err error
	if s.identityAgent, err = expand.agent("IdentityAgent", read.first("identityagent"), "SSH_AUTH_SOCK"); err != nil {
		return err
	}
	// Forwarding an agent lends its keys to the administrators of the other machine, so
	// only an explicit setting enables it.
	switch forward := read.first("forwardagent"); strings.ToLower(forward) {
	case "", "no", "false":
	case "yes", "true":
		s.forwardAgent = s.identityAgent
	default:
		s.forwardAgent, err = expand.agent("ForwardAgent", forward, "")
	}
	return err
}

// defaultIdentities are the key files that OpenSSH looks for by itself.
var defaultIdentities = []string{"id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss", "id_dsa"}

// splitPort splits host:port or [host]:port. The port is 0 if it is missing, as for an
// IPv6 address without brackets.
func splitPort(written string) (host string, port int) {
	end := strings.LastIndexByte(written, ':')
	bracketed := strings.HasPrefix(written, "[")
	if end > 0 && (strings.Count(written, ":") == 1 || bracketed && written[end-1] == ']') {
		if number, err := strconv.Atoi(written[end+1:]); err == nil && number > 0 && number < 65536 {
			written, port = written[:end], number
		}
	}
	if bracketed {
		written = strings.TrimSuffix(strings.TrimPrefix(written, "["), "]")
	}
	return written, port
}

func unlessNone(text string) string {
	if strings.EqualFold(text, "none") {
		return ""
	}
	return text
}

// strictness returns one of the four words that StrictHostKeyChecking means.
func strictness(text string) string {
	switch strings.ToLower(text) {
	case "yes", "true":
		return "yes"
	case "accept-new":
		return "accept-new"
	case "no", "false", "off":
		return "no"
	}
	return "ask"
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// fields returns the words of values that may each hold several names.
func fields(written []string) []string {
	var words []string
	for _, text := range written {
		words = append(words, strings.Fields(text)...)
	}
	return words
}

func unquote(text string) string {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1]
	}
	return text
}
