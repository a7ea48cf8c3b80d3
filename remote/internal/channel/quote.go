package channel

import (
	"strings"
	"sync"

	"al.essio.dev/pkg/shellescape"
)

// delicate replaces bytes by variables outside of the quotes: a newline, because scripts
// are read as one line, and the two bytes that bash uses as marks, which it loses behind
// the beginning of a UTF-8 character.
var delicate = strings.NewReplacer("\n", `'"$rmctl_n"'`, "\x01", `'"$rmctl_01"'`, "\x7f", `'"$rmctl_7f"'`)

// delicateVariables sets those variables.
const delicateVariables = `rmctl_n=$(printf '\nx'); rmctl_n=${rmctl_n%x}; rmctl_01=$(printf '\001'); rmctl_7f=$(printf '\177')`

// quote returns text without zero bytes as one word of a script, on one line. The script
// has to set delicateVariables before.
func quote(text string) string {
	return delicate.Replace(shellescape.Quote(text))
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return strings.Join(quoted, " ")
}

// isIdentifier reports whether a shell can have a variable of that name.
func isIdentifier(name string) bool {
	for i, char := range []byte(name) {
		letter := char == '_' || char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z'
		if !letter && (i == 0 || char < '0' || char > '9') {
			return false
		}
	}
	return name != ""
}

// shellVariables have a special meaning in some shell, which sets them, refuses to change
// them or behaves differently with them. They go through the program env.
var shellVariables = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"_": true, "ARGC": true, "CDPATH": true, "COLUMNS": true, "COPROC": true, "DIRSTACK": true, "EGID": true,
		"ENV": true, "ERRNO": true, "EUID": true, "FCEDIT": true, "FIGNORE": true, "FUNCNAME": true, "GID": true,
		"GLOBIGNORE": true, "GROUPS": true, "HISTCMD": true, "HISTFILE": true, "HISTSIZE": true, "HOSTNAME": true,
		"HOSTTYPE": true, "IFS": true, "IGNOREEOF": true, "KSH_VERSION": true, "LINENO": true, "LINES": true,
		"MACHTYPE": true, "MAILCHECK": true, "NULLCMD": true, "OLDPWD": true, "OPTARG": true, "OPTERR": true,
		"OPTIND": true, "OSTYPE": true, "PIPESTATUS": true, "POSIXLY_CORRECT": true, "PPID": true, "PROMPT": true,
		"PS1": true, "PS2": true, "PS3": true, "PS4": true, "PWD": true, "RANDOM": true, "REPLY": true, "SECONDS": true,
		"SHELLOPTS": true, "SHLVL": true, "SRANDOM": true, "TIMEFMT": true, "TMOUT": true, "UID": true, "USERNAME": true,
		"argv": true, "cdpath": true, "status": true, "path": true, "prompt": true, "pipestatus": true,
	}
})

// isPlain reports whether the shell itself may give the variable that value, or
// remove it. A locale that is not installed makes some shells complain.
func isPlain(name, value string) bool {
	if name == "LANG" || strings.HasPrefix(name, "LC_") {
		return isIdentifier(name) && (value == "C" || value == "POSIX" || value == "")
	}
	return isIdentifier(name) && !shellVariables()[name] && !strings.HasPrefix(name, "rmctl_") &&
		!strings.HasPrefix(name, "BASH") && !strings.HasPrefix(name, "EPOCH")
}
