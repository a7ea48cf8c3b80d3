package ssh

import (
	"cmp"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// tokens replaces the TOKENS of ssh_config(5), which ssh -G and the files contain.
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
	return tokens{home: account.HomeDir, values: map[byte]string{
		'%': "%", 'd': account.HomeDir, 'h': s.host, 'i': account.Uid, 'k': cmp.Or(s.hostKeyAlias, s.host), 'L': short, 'l': local, 'n': s.alias,
		'p': strconv.Itoa(s.port), 'r': s.user, 'u': account.Username, 'j': s.proxyJump,
	}}
}

var tokenForm = lazyregexp.New(`(?s)%.?`)

// tokens replaces the tokens in a setting.
func (t tokens) tokens(name, written string) (string, error) {
	return replaceEach(tokenForm, written, func(token string) (string, error) {
		if token == "%" {
			return "", fmt.Errorf("%s %q in ssh_config ends with an incomplete token", name, written)
		}
		value, known := t.values[token[1]]
		if !known {
			return "", fmt.Errorf("%s %q in ssh_config has the unsupported token %s", name, written, token)
		}
		return value, nil
	})
}

// replaceEach replaces each match of an expression. The first error counts.
func replaceEach(form *lazyregexp.Regexp, text string, replacement func(match string) (string, error)) (string, error) {
	var failure error
	replaced := form.ReplaceAllStringFunc(text, func(match string) string {
		value, err := replacement(match)
		failure = cmp.Or(failure, err)
		return value
	})
	return replaced, failure
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

// agent completes the path of an agent's socket.
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

var variableForm = lazyregexp.New(`(?s)\$\{[^}]*\}?`)

func replaceVariables(name, written string) (string, error) {
	return replaceEach(variableForm, written, func(variable string) (string, error) {
		value, set := os.LookupEnv(strings.TrimSuffix(variable[2:], "}"))
		if !strings.HasSuffix(variable, "}") || !set {
			return "", fmt.Errorf("%s %q in ssh_config names a variable that is not set", name, written)
		}
		return value, nil
	})
}
