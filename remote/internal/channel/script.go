package channel

import (
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// The command lines that a login shell sees. They mean the same to sh, csh, tcsh
// and fish, and hold no value of ours: those come through the channel, where
// sh reads them, byte by byte.
const (
	plainLine    = `exec /bin/sh -c 'LC_ALL=C IFS= read -r rmctl && eval "$rmctl"'`
	terminalLine = `exec /bin/sh -c 'rmctl_s=$(stty -g) && stty raw -echo && printf "\036%s tty\n" "$1" && LC_ALL=C IFS= read -r rmctl && stty "$rmctl_s" && eval "$rmctl"' sh `
)

//go:embed shell.sh
var shellFunctions string

// A marker distinguishes records of the shell from the output of programs, which never
// learn it.
type marker []byte

func newMarker() marker {
	var random [(markerLength - 1) / 2]byte
	// It never fails, says its documentation.
	_, _ = rand.Read(random[:])
	return append(marker{recordStart}, hex.EncodeToString(random[:])...)
}

// text is the marker without its first byte, as scripts name it.
func (m marker) text() string { return string(m[1:]) }

// openLine makes a shell ready for commands. It has no line break.
func openLine(m marker) string {
	return delicateVariables + `; rmctl_m=` + m.text() + `; eval ` + quote(shellFunctions)
}

// serveLine lets a ready shell run one line after the other, and the lines of asideLine
// while one runs.
const serveLine = `; rmctl_serve`

// outputs describes the output streams of a program.
type outputs struct {
	stdout, stderr bool // wanted
	merged         bool // stderr goes where stdout goes

	// shared keeps the program in the process group of the shells, for a host that
	// opens no second channel to signal it. The shells then ignore its signals.
	shared bool
}

const survivable = ` HUP INT QUIT TERM USR1 USR2`

// runLine runs a program and reports its end. The output goes through its own pipes, so
// that processes it leaves behind cannot write into the output of the next command. The
// reports of its end follow in the same pipes. The input is that of the channel, if any.
func runLine(m marker, child string, streams outputs, input bool) string {
	redirect := ` 3>&-`
	if !input {
		redirect += ` </dev/null`
	}
	const exit, flushed = `; rmctl_exit $?`, `; rmctl_flushed`
	line := `rmctl_m=` + m.text() + `; `
	if streams.shared {
		// What is ignored before a process begins never reaches it.
		line += `trap ""` + survivable + `; rmctl_setsid=; rmctl_perl=; `
		child = `trap -` + survivable + `; ` + child
	}
	switch {
	case streams.merged && streams.stdout:
		line += `{ (` + child + `) 2>&1` + redirect + exit + flushed + ` >&3; } | cat`
	case streams.stdout && streams.stderr:
		line += `{ { (` + child + `) 2>&1 >&5 5>&-` + redirect + exit + ` >&5` + flushed + `; } | cat >&3 5>&-; } 5>&1 | cat`
	case streams.stdout:
		line += `{ (` + child + `)` + redirect + exit + flushed + ` >&3; } | cat`
	case streams.stderr && !streams.merged:
		line += `{ (` + child + `) 2>&1 >/dev/null` + redirect + exit + ` >&4` + flushed + `; } | cat >&3`
	default:
		line += `(` + child + `) >/dev/null 2>&1` + redirect + exit + ` >&4` + flushed + ` >&3`
	}
	return line + `; rmctl_end`
}

// terminalRunLine runs a program on the channel's terminal. The shell survives signals
// for the terminal's group to report the end of the program.
func terminalRunLine(m marker, child string) string {
	return `rmctl_m=` + m.text() + `; trap :` + survivable + `; (` + child + `) 2>&3 3>&-; rmctl_farewell $?`
}

// callLine runs shell code of ours, and reports its status.
func callLine(m marker, code string) string {
	return `rmctl_m=` + m.text() + `; ` + code + `; rmctl_exit $?; rmctl_end`
}

// asideLine runs shell code of ours during the command with the marker, and reports its
// status under a number.
func asideLine(m marker, number int, code string) string {
	return `!rmctl_m=` + m.text() + `; ` + code + `; rmctl_answer ` + strconv.Itoa(number) + ` $?`
}

// childScript returns the script that becomes the program.
func childScript(command remote.Command, home string, known bool) (string, error) {
	if strings.ContainsRune(command.Directory, 0) {
		return "", fmt.Errorf("the directory %q contains a zero byte", command.Directory)
	}
	directory := command.Directory
	if !path.IsAbs(directory) {
		directory = path.Join(home, directory)
	}
	variables, env, search := environmentScript(command)
	firstLine := ""
	if known {
		firstLine = " known"
	}
	start := "rmctl_start"
	if command.Terminal != nil {
		start = "rmctl_show"
	}
	return "rmctl_enter " + quote(directory) + "; " + variables +
		"rmctl_find " + quote(command.Arguments[0]) + " " + search + firstLine + "; " +
		start + env + ` "$rmctl_p" ` + quoteAll(command.Arguments[1:]), nil
}

// environmentScript sets plain variables in the shell, and the others through the program
// env. The search path is a word of the script.
func environmentScript(command remote.Command) (variables, env, search string) {
	var script strings.Builder
	var words []string
	if command.ReplaceEnvironment {
		words = append([]string{"-i"}, keptWords(command)...)
	} else {
		words = unset(command, &script)
	}
	for _, name := range slices.Sorted(maps.Keys(command.Environment)) {
		value := command.Environment[name]
		if isPlain(name, value) && !command.ReplaceEnvironment {
			script.WriteString("export " + name + "=" + quote(value) + "; ")
		} else {
			words = append(words, quote(name+"="+value))
		}
	}
	if len(words) > 0 {
		// A program whose path holds "=" would be a variable to env.
		env = ` "$rmctl_env" ` + strings.Join(words, " ") + ` ${rmctl_q:+/bin/sh -c "$rmctl_q"}`
	}
	return script.String(), env, searchPath(command)
}

// keptWords returns the words of env for the variables that are kept.
func keptWords(command remote.Command) []string {
	var words []string
	for _, name := range command.Keep {
		if _, replaced := command.Environment[name]; !replaced && isIdentifier(name) {
			words = append(words, `${`+name+`+"`+name+`=$`+name+`"}`)
		}
	}
	return words
}

// unset unsets plain variables in the script, and returns the words of env for the others.
func unset(command remote.Command, script *strings.Builder) []string {
	var words []string
	for _, name := range command.Unset {
		if _, replaced := command.Environment[name]; replaced || name == "" || strings.ContainsAny(name, "=\x00") {
			continue
		}
		if isPlain(name, "") {
			script.WriteString("unset " + name + "; ")
		} else {
			words = append(words, "-u", quote(name))
		}
	}
	return words
}

// searchPath returns the word of the script for the PATH of the program.
func searchPath(command remote.Command) string {
	path, isGiven := command.Environment["PATH"]
	switch {
	case isGiven && path != "":
		return quote(path)
	case isGiven, command.ReplaceEnvironment && !slices.Contains(command.Keep, "PATH"):
		return execution.DefaultPath
	}
	return `"${PATH:-` + execution.DefaultPath + `}"`
}
