package submission

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/job"
)

// SetLaunch sets what the engine knows of the program. Arguments are quoted so
// that a line of a shell script and the splitting of command lines both give
// them back unchanged.
func SetLaunch(env *attribute.Environment, s job.Submission) {
	mode := "run"
	if s.Debug {
		mode = "debug"
	}
	env.SetVariable(attributeLaunchMode, mode)
	executable, arguments := s.Executable, s.Arguments
	if len(s.Wrapper) > 0 && executable != "" {
		arguments = slices.Concat(s.Wrapper[1:], []string{executable}, arguments)
		executable = s.Wrapper[0]
	}
	quoted := make([]string, 0, len(arguments))
	for _, argument := range arguments {
		quoted = append(quoted, quote(argument))
	}
	env.SetVariable(attributeArguments, strings.Join(quoted, " "))
	if executable != "" {
		env.SetVariable(attributeExecutable, quote(executable))
	}
	directory, executableDir := directories(s)
	if s.Directory != "" {
		env.SetVariable(attributeWorkingDir, directory)
	}
	setIfKnown(env, AttributeExecutableName, jobName(s))
	setIfKnown(env, attributeExecutableDir, executableDir)
	setIfKnown(env, AttributeDirectory, directory)
	setIfKnown(env, attributeScriptPath, s.Script)
}

// directories returns the working directory of a submission and the directory of its program,
// empty if the submission has none.
func directories(s job.Submission) (directory, executableDir string) {
	executableDir = s.Directory
	if strings.Contains(s.Executable, "/") {
		executableDir = path.Dir(s.Executable)
		if !path.IsAbs(executableDir) && s.Directory != "" {
			executableDir = path.Join(s.Directory, executableDir)
		}
	}
	return cmp.Or(s.Directory, executableDir), executableDir
}

// quote quotes a text so that a line of a shell script, and the splitting of
// command lines, both give it back as one word. Definitions also write arguments
// between double quotes (COMMAND="… ${ptp_rm:progArgs#value}"). There no quoting
// survives, but what a shell would expand must not run: backslashes keep that from
// happening within double quotes and without; csh wants one for ! in any quotes.
// What looks like a reference is taken apart on the way, since values are
// resolved, too.
func quote(text string) string {
	if text == "" {
		return "''"
	}
	var quoted strings.Builder
	if strings.HasPrefix(text, "=") { // tcsh puts a directory for =0 and =-
		quoted.WriteString("'='")
		text = text[1:]
	}
	for text != "" {
		end := strings.IndexAny(text, "'\"$`\\!")
		if end < 0 {
			end = len(text)
		}
		if end > 0 {
			quoted.WriteString(shellescape.Quote(text[:end]))
		}
		if end < len(text) {
			quoted.WriteByte('\\')
			quoted.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	return quoted.String()
}

// jobName returns the program's name, or the script's, as schedulers take it for
// a job: without characters that one of them refuses.
func jobName(s job.Submission) string {
	name := s.Executable
	if name == "" {
		name = s.Script
	}
	if name == "" {
		return ""
	}
	return plainName(path.Base(name))
}

// plainName replaces what a scheduler or a shell might take for something else.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, name)
}

func setIfKnown(env *attribute.Environment, name, value string) {
	if value != "" {
		env.SetVariable(name, value)
	}
}
