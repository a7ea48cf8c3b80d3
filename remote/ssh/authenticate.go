package ssh

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote"
)

// authenticator authenticates the user, with OpenSSH's order of methods and numbers of
// tries. x/crypto calls next before each attempt.
type authenticator struct {
	settings settings
	limit    *patience
	prompter remote.Prompter // nil without a user
	banner   func(text string)
	wire     *wire

	started    bool
	wants      []string // the methods that the server last named
	notes      []string // what was tried, and what could not be tried
	pending    string   // the attempt without an outcome yet
	refusal    error    // why the pending attempt failed on this side
	partial    int
	keys       []candidate
	keysRead   bool
	closeAgent func()
	hardware   bool // a key was found that only other software can use
	kerberos   bool // the server would take Kerberos tickets
	tries      map[string]int
	hasAsked   bool  // the pending keyboard-interactive attempt asked something
	failure    error // ends it all: the user gave up, the server misbehaves
}

// Bounds on what a server may ask in one attempt.
const (
	maxQuestions     = 32
	maxRounds        = 32
	maxQuestionBytes = 64 << 10
)

var errNothingLeft = errors.New("no way to authenticate is left")

// next returns the next attempt.
func (a *authenticator) next(state *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	a.started = true
	a.wants = state.AllowedMethods
	a.settle(len(state.PartialSuccessMethods))
	if err := a.wire.failure(); err != nil {
		return nil, err
	}
	if a.failure != nil {
		return nil, a.failure
	}
	if err := a.limit.ctx.Err(); err != nil {
		return nil, err
	}
	for _, method := range a.settings.preferred {
		if !slices.Contains(state.AllowedMethods, method) {
			continue
		}
		if attempt := a.attempt(method); attempt != nil {
			return attempt, nil
		}
	}
	return nil, errNothingLeft
}

// settle notes the outcome of the last attempt.
func (a *authenticator) settle(partial int) {
	switch {
	case a.pending == "":
	case partial > a.partial:
		a.note("%s: accepted, but more is wanted", a.pending)
		a.partial = partial
		a.tries = nil
	case a.refusal != nil:
		a.note("%s: %s", a.pending, visible(a.refusal.Error(), 200))
	default:
		a.note("%s: not accepted", a.pending)
	}
	a.pending, a.refusal = "", nil
}

// attempt returns the next attempt by a method, or nil after the last.
func (a *authenticator) attempt(method string) ssh.AuthMethod {
	switch method {
	case "publickey":
		return a.publicKey()
	case "keyboard-interactive":
		if a.settings.interactive && a.mayAsk(method) {
			a.hasAsked = false
			return ssh.KeyboardInteractive(a.answer)
		}
	case "password":
		if a.settings.passwords && a.mayAsk(method) {
			return ssh.PasswordCallback(func() (string, error) {
				password, err := a.ask(fmt.Sprintf("Password of %s on %s: ", a.settings.user, a.settings.alias), true)
				a.refusal = err
				return password, err
			})
		}
	case "gssapi-with-mic":
		a.kerberos = a.kerberos || a.settings.gssapi
	}
	return nil
}

func (a *authenticator) publicKey() ssh.AuthMethod {
	if !a.settings.publicKeys {
		return nil
	}
	if !a.keysRead {
		a.keys, a.keysRead = a.candidates(), true
	}
	if len(a.keys) == 0 {
		return nil
	}
	key := a.keys[0]
	a.keys = a.keys[1:]
	a.pending = key.name
	return ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
		signer := key.signer
		if key.prepare != nil {
			prepared, err := key.prepare()
			if err != nil {
				a.refusal = err
				return nil, err
			}
			signer = prepared
		}
		return []ssh.Signer{signer}, nil
	})
}

// mayAsk reports whether another attempt may be made by asking the user.
func (a *authenticator) mayAsk(method string) bool {
	if a.prompter == nil || a.settings.batch {
		a.note("%s: no terminal for prompts", method)
		return false
	}
	if a.tries == nil {
		a.tries = map[string]int{}
	}
	// A server that asked nothing the last time will not ask the next time.
	if a.tries[method] >= a.settings.passwordPrompts || method == "keyboard-interactive" && a.tries[method] > 0 && !a.hasAsked {
		return false
	}
	a.tries[method]++
	a.pending = method
	return true
}

// answer passes the questions of the server to the user.
func (a *authenticator) answer(name, instruction string, questions []string, echos []bool) (answers []string, err error) {
	defer func() { a.refusal = err }()
	size := len(name) + len(instruction)
	for _, question := range questions {
		size += len(question)
	}
	a.tries["rounds"]++
	if len(questions) > maxQuestions || size > maxQuestionBytes || a.tries["rounds"] > maxRounds {
		a.failure = fmt.Errorf("the server asks too much: %d questions of %d bytes in round %d", len(questions), size, a.tries["rounds"])
		return nil, a.failure
	}
	introduction := strings.TrimSpace(name + "\n" + instruction)
	if len(questions) == 0 {
		if introduction != "" {
			a.banner(introduction + "\n")
		}
		return nil, nil
	}
	a.hasAsked = true
	for index, question := range questions {
		if index == 0 && introduction != "" {
			question = introduction + "\n" + question
		}
		answer, err := a.ask(question, !echos[index])
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// ask asks the user, who may take any time.
func (a *authenticator) ask(text string, secret bool) (answer string, err error) {
	if a.prompter == nil || a.settings.batch {
		return "", remote.ErrNobodyToAsk
	}
	err = a.limit.asking(func() error {
		answer, err = a.prompter.Ask(a.limit.ctx, remote.Question{Host: a.settings.alias, Text: text, Secret: secret})
		return err
	})
	if err != nil && !errors.Is(err, remote.ErrNobodyToAsk) {
		a.failure = fmt.Errorf("asking for %s: %w", a.settings.alias, err)
	}
	if errors.Is(err, remote.ErrNobodyToAsk) {
		a.prompter = nil
	}
	return answer, err
}

// note records for the error what was tried, each thing once.
func (a *authenticator) note(format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	if !slices.Contains(a.notes, text) {
		a.notes = append(a.notes, text)
	}
}

// stop closes the agent.
func (a *authenticator) stop() {
	if a.closeAgent != nil {
		a.closeAgent()
	}
}

// refused returns the error for a failed authentication, with what was tried.
func (a *authenticator) refused(because string) error {
	a.settle(a.partial)
	var text strings.Builder
	fmt.Fprintf(&text, "permission denied for %s", a.settings.user)
	if because != "" {
		fmt.Fprintf(&text, ": %s", because)
	}
	if len(a.wants) > 0 {
		fmt.Fprintf(&text, "; the server accepts %s", visible(strings.Join(a.wants, ", "), 200))
	}
	text.WriteString("; tried: ")
	if len(a.notes) == 0 {
		text.WriteString("nothing: no key, no agent and no terminal for prompts")
	}
	text.WriteString(strings.Join(a.notes, ", "))
	return a.settings.failure(remote.NotAuthenticated, errors.New(text.String()), a.advice())
}

func (a *authenticator) advice() string {
	var beyond []string
	if a.kerberos {
		beyond = append(beyond, "Kerberos (GSSAPI)")
	}
	if a.hardware || a.settings.namesHardwareKeys {
		beyond = append(beyond, "hardware keys")
	}
	if a.settings.namesControlPath {
		beyond = append(beyond, "a shared connection (ControlPath)")
	}
	if len(beyond) > 0 {
		return fmt.Sprintf("This transport does not support %s. Your ssh program may:\nset transport = \"openssh\" for the target.", strings.Join(beyond, " or "))
	}
	return "Try the ssh program: ssh -v " + a.settings.alias
}
