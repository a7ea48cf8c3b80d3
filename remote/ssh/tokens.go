package ssh

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// tokens replaces what ssh_config(5) lists under TOKENS. ssh -G leaves them in
// place, as does whoever reads the file.
type tokens struct {
	values map[byte]string
	home   string
}

func newTokens(s *settings, account *user.User) tokens {
	local, err := os.Hostname()
	if err != nil {
		local = "localhost"
	}
	short, _, _ := strings.Cut(local, ".")
	known := s.hostKeyAlias
	if known == "" {
		known = s.host
	}
	return tokens{home: account.HomeDir, values: map[byte]string{
		'%': "%", 'd': account.HomeDir, 'h': s.host, 'i': account.Uid, 'k': known, 'L': short, 'l': local, 'n': s.alias,
		'p': strconv.Itoa(s.port), 'r': s.user, 'u': account.Username, 'j': s.proxyJump,
	}}
}

// tokens replaces the tokens in a setting.
func (t tokens) tokens(name, written string) (string, error) {
	var replaced strings.Builder
	for rest := written; ; {
		before, after, found := strings.Cut(rest, "%")
		replaced.WriteString(before)
		if !found {
			return replaced.String(), nil
		}
		if after == "" {
			return "", fmt.Errorf("%s %q of ssh_config ends with half a token", name, written)
		}
		value, known := t.values[after[0]]
		if !known {
			return "", fmt.Errorf("%s %q of ssh_config has the token %%%c, which cannot be replaced here", name, written, after[0])
		}
		replaced.WriteString(value)
		rest = after[1:]
	}
}

// path completes the name of a file: tokens, ${VARIABLES} and the user's home.
func (t tokens) path(name, written string) (string, error) {
	path, err := t.tokens(name, written)
	if err != nil {
		return "", err
	}
	if path, err = replaceVariables(name, path); err != nil {
		return "", err
	}
	if rest, isHome := strings.CutPrefix(path, "~/"); isHome {
		path = filepath.Join(t.home, rest)
	}
	return path, nil
}

// agent completes the place of an agent's socket.
func (t tokens) agent(name, written, otherwise string) (string, error) {
	switch {
	case written == "" || written == "SSH_AUTH_SOCK":
		return os.Getenv(otherwise), nil
	case written == "none":
		return "", nil
	case strings.HasPrefix(written, "$") && !strings.HasPrefix(written, "${"):
		return os.Getenv(written[1:]), nil
	}
	return t.path(name, unquote(written))
}

func replaceVariables(name, written string) (string, error) {
	var replaced strings.Builder
	for rest := written; ; {
		before, after, found := strings.Cut(rest, "${")
		replaced.WriteString(before)
		if !found {
			return replaced.String(), nil
		}
		variable, after, closed := strings.Cut(after, "}")
		value, set := os.LookupEnv(variable)
		if !closed || !set {
			return "", fmt.Errorf("%s %q of ssh_config names a variable that is not set", name, written)
		}
		replaced.WriteString(value)
		rest = after
	}
}
