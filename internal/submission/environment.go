package submission

import (
	"path"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/remote"
)

// Names of attributes that the engine supplies or reads.
const (
	AttributeQueueName        = "control.queue.name"
	AttributeStdoutPath       = "stdout_remote_path"
	AttributeStderrPath       = "stderr_remote_path"
	AttributeScript           = "script"
	attributeScriptPath       = "script_path"
	attributeStagedScript     = "managed_file_for_script"
	AttributeQueues           = "queues"
	AttributeDirectory        = "directory"
	attributeExecutable       = "executablePath"
	attributeExecutableDir    = "executableDirectory"
	AttributeExecutableName   = "executableName" // not in PTP: the names by which a job may be known
	attributeArguments        = "progArgs"
	attributeLaunchMode       = "launchMode"
	attributeDebugger         = "debuggerExecutablePath"
	attributeDebuggerArgs     = "debuggerArgs"
	attributeDebuggerID       = "debuggerId"
	attributeDebuggerLauncher = "debuggerLauncher"
	attributeEnvironmentSetup = "ems"
	attributeWorkingDir       = "working.directory"
	attributeUserName         = "control.user.name"
	attributeAddress          = "control.address"
	attributeControlDir       = "control.working.dir"
	attributeSettings         = "ptpDirectory"
	settingsFolder            = ".eclipsesettings" // where the reference keeps scripts on the target
	AttributeJobPrefix        = "job."
	AttributeTag              = "job.tag"           // of the submission
	AttributeTerminal         = "job.terminal"      // whether an interactive job has a terminal
	attributeAge              = "job.age"           // age of the submission to look up, in seconds, so that clocks of other machines do not matter
	AttributeCanceled         = "job.canceled"      // true of a job that the scheduler canceled at the request of rmctl; not set for others
	attributeDays             = "job.days"          // as job.age, in days, rounded up
	attributeSince            = "job.since"         // ten minutes before the submission that is looked up: YYYYMMDDhhmm on the target's clock
	attributeSinceSeconds     = "job.since.seconds" // as job.since, in seconds since 1970
	AttributeScope            = "job.scope"         // the scope of a listing
	attributeIDs              = "job.ids"           // of the jobs to list, see SetIDs
	attributeMark             = "query.mark"        // at the end of columns that a command prints
	attributeBatch            = "query.ids"         // of the batch that a command runs for
	attributeControlPrefix    = "control."
	attributeSystemName       = "os.name"
	attributeSystemArch       = "os.arch"
	attributeSystemVersion    = "os.version"
)

// NewEnvironment returns the environment at the start of a session: the definition's
// attributes with their defaults, and facts about the host.
func (r *Resolver) NewEnvironment() *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, defined := range r.Definition.Attributes {
		a := defined.Attribute.Clone()
		if a.Value() == nil {
			a.SetValue(a.Field(attribute.FieldDefault))
		}
		env.Define(a.Name(), a)
	}
	info := r.Place
	env.SetVariable(attributeUserName, info.User)
	env.SetVariable(attributeAddress, info.Host)
	env.SetVariable(attributeControlDir, info.Home)
	env.SetVariable(attributeWorkingDir, info.Home)
	env.SetVariable(attributeSettings, path.Join(info.Home, settingsFolder))
	env.SetVariable(AttributeTerminal, "true") // until a job without one runs
	if r.Definition.HasReaders() {
		env.SetVariable(attributeMark, "@mark") // until a command runs
		env.SetVariable(attributeBatch, "")
	}
	setSystem(env, info)
	return env
}

func setSystem(env *attribute.Environment, info remote.Info) {
	for name, value := range map[string]string{
		attributeSystemName: info.System, attributeSystemArch: info.Arch, attributeSystemVersion: info.Version,
	} {
		if value == "" {
			continue
		}
		system := attribute.New(name)
		_ = system.Set(attribute.FieldReadOnly, true) // a boolean field takes booleans
		system.SetValue(value)
		env.Define(name, system)
	}
}

// IsEngineAttribute reports whether rmctl itself sets an attribute, so that callers must not.
func IsEngineAttribute(name string) bool {
	switch name {
	case attributeUserName, attributeAddress, attributeControlDir, attributeWorkingDir, attributeSettings,
		attributeExecutable, attributeExecutableDir, AttributeExecutableName, attributeArguments, attributeLaunchMode, AttributeScript,
		attributeScriptPath, attributeStagedScript, attributeSystemName, attributeSystemArch, attributeSystemVersion:
		return true
	}
	return strings.HasPrefix(name, AttributeJobPrefix)
}

// isLaunchAttribute reports whether a caller may give a value to an attribute that no
// definition has to have: what commands for debugging run, and commands that set up the
// environment of the program.
func isLaunchAttribute(name string) bool {
	switch name {
	case attributeDebugger, attributeDebuggerArgs, attributeDebuggerID, attributeDebuggerLauncher, attributeEnvironmentSetup:
		return true
	}
	return false
}

// isFixedValid reports whether a caller may set an attribute of the definition
// although the form does not show it. The reference takes these from anybody.
func isFixedValid(name string) bool {
	return isLaunchAttribute(name) || name == AttributeStdoutPath || name == AttributeStderrPath || strings.HasPrefix(name, attributeControlPrefix)
}

// JobAttribute puts the attribute of a job into env under key and returns it.
func JobAttribute(env *attribute.Environment, key, id, shortID string) *attribute.Attribute {
	env.SetVariable(key, nil)
	job := env.Variable(key)
	setText(job, attribute.FieldName, id)
	setText(job, attribute.FieldDefault, shortID)
	return job
}

// setText stores a text in a text field, which always takes one; an empty text unsets it.
func setText(a *attribute.Attribute, field attribute.Field, text string) {
	var value attribute.Value
	if text != "" {
		value = text
	}
	_ = a.Set(field, value) // text fields take every text
}
