package control

import (
	"path"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/remote"
)

// Names of attributes that the engine supplies or reads.
const (
	attributeQueueName        = "control.queue.name"
	attributeStdoutPath       = "stdout_remote_path"
	attributeStderrPath       = "stderr_remote_path"
	attributeScript           = "script"
	attributeScriptPath       = "script_path"
	attributeStagedScript     = "managed_file_for_script"
	attributeQueues           = "queues"
	attributeDirectory        = "directory"
	attributeExecutable       = "executablePath"
	attributeExecutableDir    = "executableDirectory"
	attributeExecutableName   = "executableName" // not of the reference: what a job can be called by
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
	attributeJobPrefix        = "job."
	attributeTag              = "job.tag"   // of the submission
	attributeAge              = "job.age"   // of the submission that is looked up, in whole seconds: no clock of another machine takes part
	attributeScope            = "job.scope" // whose jobs a listing is of
	attributeIDs              = "job.ids"   // of the jobs that a listing is asked for; empty for all
	attributeControlPrefix    = "control."
	attributeSystemName       = "os.name"
	attributeSystemArch       = "os.arch"
	attributeSystemVersion    = "os.version"
)

// newEnvironment returns the environment at the start of a session: the
// definition's attributes with their defaults, and what is known of the place.
func (c *Controller) newEnvironment() *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, defined := range c.definition.Attributes {
		a := defined.Attribute.Clone()
		if a.Value() == nil {
			a.SetValue(a.Field(attribute.FieldDefault))
		}
		env.Define(a.Name(), a)
	}
	info := c.place
	env.SetVariable(attributeUserName, info.User)
	env.SetVariable(attributeAddress, info.Host)
	env.SetVariable(attributeControlDir, info.Home)
	env.SetVariable(attributeWorkingDir, info.Home)
	env.SetVariable(attributeSettings, path.Join(info.Home, settingsFolder))
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

// isEngineAttribute reports whether the engine sets an attribute itself, so
// that no caller may.
func isEngineAttribute(name string) bool {
	switch name {
	case attributeUserName, attributeAddress, attributeControlDir, attributeWorkingDir, attributeSettings,
		attributeExecutable, attributeExecutableDir, attributeExecutableName, attributeArguments, attributeLaunchMode, attributeScript,
		attributeScriptPath, attributeStagedScript, attributeSystemName, attributeSystemArch, attributeSystemVersion:
		return true
	}
	return strings.HasPrefix(name, attributeJobPrefix)
}

// isLaunchAttribute reports whether a caller may give a value to an attribute
// that no definition has to have: what commands for debugging are told to run,
// and commands that set up the environment of the program.
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
	return isLaunchAttribute(name) || name == attributeStdoutPath || name == attributeStderrPath || strings.HasPrefix(name, attributeControlPrefix)
}

// jobAttribute puts the attribute of a job into env under key and returns it.
func jobAttribute(env *attribute.Environment, key, id, shortID string) *attribute.Attribute {
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
