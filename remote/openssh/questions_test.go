package openssh_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
	"github.com/rmctl/rmctl/remote/openssh"
)

// user answers questions, and remembers them.
type user struct {
	answer func(question remote.Question) (string, error)

	mutex sync.Mutex
	asked []remote.Question
}

func (u *user) Ask(_ context.Context, question remote.Question) (string, error) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.asked = append(u.asked, question)
	return u.answer(question)
}

func (u *user) questions() []remote.Question {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.asked
}

// answering gives the answers one by one.
func answering(answers ...string) *user {
	return &user{answer: func(remote.Question) (string, error) {
		if len(answers) == 0 {
			return "", remote.ErrNobodyToAsk
		}
		next := answers[0]
		answers = answers[1:]
		return next, nil
	}}
}

func TestQuestionsOfARealServer(t *testing.T) {
	server := startSSHD(t, "28254", "RMCTL_SSHD_PASSWORDS=yes")
	content, err := os.ReadFile(filepath.Join(server.folder, "client", "password"))
	require.NoError(t, err)
	password := string(content)

	// dialTwice connects and opens two channels: the user is asked once.
	dialTwice := func(t *testing.T, options openssh.Options) {
		t.Helper()
		dialer := dial(t, options)
		for range 2 {
			require.Equal(t, "in", run(t, dialer, "cat", "in").stdout)
		}
		for _, process := range processesNaming(t, options.StateFolder) {
			require.NotContains(t, process, password)
		}
	}

	t.Run("KeyboardInteractive", func(t *testing.T) {
		asked := answering(password)
		options := server.options(t, "rmtest-password")
		options.Prompter = asked
		dialTwice(t, options)
		require.Len(t, asked.questions(), 1)
		require.True(t, asked.questions()[0].Secret)
		require.Contains(t, asked.questions()[0].Text, "Password:")
		require.Equal(t, "rmtest-password", asked.questions()[0].Host)
	})
	t.Run("PasswordAfterAWrongOne", func(t *testing.T) {
		asked := answering("wrong", password)
		options := withSettings(t, server, "rmtest-password", "KbdInteractiveAuthentication no\n")
		options.Prompter = asked
		dialTwice(t, options)
		require.Len(t, asked.questions(), 2)
		require.True(t, asked.questions()[1].Secret)
		require.Contains(t, asked.questions()[1].Text, "Permission denied, please try again.")
		require.NotContains(t, asked.questions()[1].Text, "wrong")
	})
	t.Run("WrongPassword", func(t *testing.T) {
		options := withSettings(t, server, "rmtest-password", "NumberOfPasswordPrompts 1\n")
		options.Prompter = answering("wrong", "wrong", "wrong")
		_, err := openssh.Dial(timeLimit(t), options)
		requireReason(t, err, remote.NotAuthenticated)
	})
	t.Run("NobodyToAsk", func(t *testing.T) {
		options := server.options(t, "rmtest-password")
		_, err := openssh.Dial(timeLimit(t), options)
		requireReason(t, err, remote.NotAuthenticated)
		options.Prompter = answering()
		_, err = openssh.Dial(timeLimit(t), options)
		requireReason(t, err, remote.NotAuthenticated)
		require.ErrorIs(t, err, remote.ErrNobodyToAsk)
	})
	t.Run("UnknownHostKey", func(t *testing.T) {
		known := filepath.Join(t.TempDir(), "known_hosts")
		settings := "UserKnownHostsFile " + known + "\nStrictHostKeyChecking ask\nBatchMode no\n"
		refusing := withSettings(t, server, "rmtest-target", settings)
		refusing.Prompter = answering("no")
		_, err := openssh.Dial(timeLimit(t), refusing)
		requireReason(t, err, remote.UnknownHostKey)

		nobody := withSettings(t, server, "rmtest-target", settings)
		nobody.Prompter = answering()
		_, err = openssh.Dial(timeLimit(t), nobody)
		requireReason(t, err, remote.UnknownHostKey)

		asked := answering("what?", "yes") // it asks again until it understands
		accepting := withSettings(t, server, "rmtest-target", settings)
		accepting.Prompter = asked
		dialTwice(t, accepting)
		require.Len(t, asked.questions(), 2)
		require.Contains(t, asked.questions()[0].Text, "fingerprint is SHA256:")
		require.False(t, asked.questions()[0].Secret)
		require.NotContains(t, asked.questions()[1].Text, "what?", "the answer that the terminal echoes is no part of the next question")
	})
	t.Run("PassphraseOfAKey", func(t *testing.T) {
		key := filepath.Join(t.TempDir(), "key")
		content, err := os.ReadFile(filepath.Join(server.folder, "client", "id_known"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(key, content, 0o600))
		require.NoError(t, exec.Command("ssh-keygen", "-p", "-q", "-P", "", "-N", "open sesame", "-f", key).Run())
		asked := answering("open sesame")
		options := withSettings(t, server, "rmtest-target", "BatchMode no\nIdentityFile "+key+"\n")
		config, err := os.ReadFile(options.ConfigFile)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(options.ConfigFile, []byte(strings.ReplaceAll(string(config), "/id_known", "/id_stranger")), 0o600))
		options.Prompter = asked
		dialTwice(t, options)
		require.Contains(t, asked.questions()[0].Text, "passphrase")
	})
	t.Run("WithoutMaster", func(t *testing.T) {
		asked := answering(password, password, password)
		options := server.options(t, "rmtest-password")
		options.Program = wrapper(t, `exec ssh -o ControlMaster=no "$@"`)
		options.Prompter = asked
		dialTwice(t, options)
		require.Len(t, asked.questions(), 3)
	})
}

// withSettings are options with settings that go before those of the file.
func withSettings(t testing.TB, server sshd, host, settings string) openssh.Options {
	t.Helper()
	options := server.options(t, host)
	content, err := os.ReadFile(server.config)
	require.NoError(t, err)
	options.ConfigFile = filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(options.ConfigFile, append([]byte(settings), content...), 0o600))
	return options
}

// asFake reaches a place that a script stands for, in place of ssh. It knows
// nothing of -G, -O and masters; $log is where its own messages go.
func asFake(t testing.TB, script string) openssh.Options {
	t.Helper()
	fake := wrapper(t, `
log=
for word; do
	case $word in -G|-O) exit 255 ;; esac
	[ "$last" = -E ] && log=$word
	last=$word
done
`+script)
	return openssh.Options{Host: "place", Program: fake, StateFolder: stateFolder(t), StartLimit: patience}
}

func TestWhatIsAskedReachesTheUser(t *testing.T) {
	t.Parallel()
	// Writes the answers to a file that is named by what ends the script.
	const ask = `
exec 3<>/dev/tty
case "$*" in *ControlMaster=yes*) ;; *) exit 255 ;; esac
echo 'context of the question' >>"$log"
printf 'First, with a line break:\nanswer? \n' >&3; read -r first <&3
stty -echo <&3; printf 'Second: ' >&3; read -r second <&3; stty echo <&3
printf '\n' >&3
printf 'heard <%s> <%s>\n' "$first" "$second" >>"$log"
exit 255
`
	asked := answering("one two", `$(three) \n "é"`)
	options := asFake(t, ask)
	options.Prompter = asked
	_, err := openssh.Dial(timeLimit(t), options)
	require.ErrorContains(t, err, `heard <one two> <$(three) \n "é">`)
	require.Equal(t, []remote.Question{
		{Host: "place", Text: "context of the question\nFirst, with a line break:\nanswer? "},
		{Host: "place", Text: "Second: ", Secret: true},
	}, asked.questions())
}

func TestTheTimeOfTheUserDoesNotCount(t *testing.T) {
	t.Parallel()
	options := asFake(t, `exec 3<>/dev/tty; printf 'Go? ' >&3; read -r word <&3; echo "heard $word" >>"$log"; exit 255`)
	options.StartLimit = 3 * time.Second
	options.Prompter = &user{answer: func(remote.Question) (string, error) {
		<-time.After(options.StartLimit)
		return "on", nil
	}}
	_, err := openssh.Dial(timeLimit(t), options)
	require.ErrorContains(t, err, "heard on")
}

func TestAnswersThatATerminalWouldObeyAreRefused(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"a\nb", "\x03", "a\x04", "\x00"} {
		options := asFake(t, `exec 3<>/dev/tty; printf 'Go? ' >&3; read -r word <&3; exit 255`)
		options.Prompter = answering(answer)
		_, err := openssh.Dial(timeLimit(t), options)
		requireReason(t, err, remote.NotAuthenticated)
		require.ErrorContains(t, err, "control character")
	}
}

func TestQuestionsWithoutEndAreCutOff(t *testing.T) {
	t.Parallel()
	options := asFake(t, `exec 3<>/dev/tty; while :; do printf 'Again? ' >&3; read -r word <&3 || exit 255; done`)
	patient := &user{answer: func(remote.Question) (string, error) { return "yes", nil }}
	options.Prompter = patient
	_, err := openssh.Dial(timeLimit(t), options)
	requireReason(t, err, remote.NotAuthenticated)
	require.Len(t, patient.questions(), 30)
}

func TestALongQuestionIsCut(t *testing.T) {
	t.Parallel()
	options := asFake(t, `exec 3<>/dev/tty; long=$(head -c 10000 /dev/zero | tr '\0' x); printf '%s Go? ' "$long" >&3; read -r word <&3; exit 255`)
	asked := answering("yes")
	options.Prompter = asked
	_, err := openssh.Dial(timeLimit(t), options)
	require.Error(t, err)
	require.Len(t, asked.questions(), 1)
	require.LessOrEqual(t, len(asked.questions()[0].Text), 5000)
	require.Contains(t, asked.questions()[0].Text, "Go? ")
}

func TestWithoutAPrompterAQuestionEndsTheAttempt(t *testing.T) {
	t.Parallel()
	_, err := openssh.Dial(timeLimit(t), asFake(t, `exec 3<>/dev/tty; printf 'Password: ' >&3; read -r word <&3; exit 255`))
	requireReason(t, err, remote.NotAuthenticated)
	require.ErrorIs(t, err, remote.ErrNobodyToAsk)
}

func TestAServerThatNeverAnswersIsGivenUp(t *testing.T) {
	t.Parallel()
	options := asFake(t, `trap '' TERM; while :; do sleep 0.1; done`)
	options.StartLimit = 200 * time.Millisecond
	_, err := openssh.Dial(timeLimit(t), options)
	requireReason(t, err, remote.NoAnswer)
}

func TestABannerWithoutEndIsNotKept(t *testing.T) {
	t.Parallel()
	options := asFake(t, `yes 'A word of welcome.' >&2`)
	options.StartLimit = 300 * time.Millisecond
	_, err := openssh.Dial(timeLimit(t), options)
	requireReason(t, err, remote.NoAnswer)
}

func TestMessagesWithoutEndAreNotKept(t *testing.T) {
	t.Parallel()
	options := asFake(t, `yes "$(head -c 5000 /dev/zero | tr '\0' x)" >"$log"`)
	options.StartLimit = 300 * time.Millisecond
	_, err := openssh.Dial(timeLimit(t), options)
	requireReason(t, err, remote.NoAnswer)
	require.Less(t, len(err.Error()), 1000)
}

func TestCancellingEndsTheAttempt(t *testing.T) {
	t.Parallel()
	options := asFake(t, `exec 3<>/dev/tty; printf 'Password: ' >&3; read -r word <&3`)
	ctx, cancel := context.WithCancel(timeLimit(t))
	options.Prompter = prompterFunc(func(asking context.Context, _ remote.Question) (string, error) {
		cancel()
		<-asking.Done()
		return "", asking.Err()
	})
	_, err := openssh.Dial(ctx, options)
	require.ErrorIs(t, err, context.Canceled)
}

type prompterFunc func(ctx context.Context, question remote.Question) (string, error)

func (f prompterFunc) Ask(ctx context.Context, question remote.Question) (string, error) {
	return f(ctx, question)
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]openssh.Options{
		"no host":                 {},
		"an option":               {Host: "-oProxyCommand=touch /tmp/x"},
		"two words":               {Host: "a b"},
		"a line break":            {Host: "a\nb"},
		"no such program":         {Host: "place", Program: "/no/such/ssh"},
		"a broken program":        {Host: "place", Program: wrapper(t, "exit 3")},
		"a folder that is a file": {Host: "place", ConfigFile: "/dev/null/config"},
	} {
		t.Run(name, func(t *testing.T) {
			options.StateFolder = stateFolder(t)
			_, err := openssh.Dial(timeLimit(t), options)
			requireReason(t, err, remote.BadConfiguration)
		})
	}
	_, err := openssh.Dial(timeLimit(t), openssh.Options{Host: "place", StateFolder: "/dev/null/folder"})
	require.Error(t, err)
	require.False(t, errors.Is(err, channel.ErrTooManyChannels))
}
