package importer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/javaregex"
)

// Why settings of a backend are left out.
var cromwellReasons = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"submit-docker":              "jobs run on the machine itself; put the container's command before the program",
		"kill-docker":                "jobs run on the machine itself",
		"docker":                     "jobs run on the machine itself",
		"dockerRoot":                 "jobs run on the machine itself",
		"root":                       "jobs run in the directory of the submission: -d",
		"filesystems":                "files are not copied for jobs",
		"concurrent-job-limit":       "the scheduler limits how many jobs run",
		"exit-code-timeout-seconds":  "rmctl asks for states by itself, as often as x:interval allows",
		"poll-interval-seconds":      "rmctl asks for states by itself, as often as x:interval allows",
		"script-epilogue":            "write it behind the program in the script of the definition",
		"default-runtime-attributes": "give the runtime attributes defaults",
		"temporary-directory":        "the scheduler's own is used",
		"run-in-background":          "a job has to have an id of its scheduler",
	}
})

// cromwell makes a target and a definition of each backend that is made of
// commands.
func (i *importing) cromwell() error {
	root, err := parseHOCON(string(i.source), func(line, column int, what string) {
		i.remark(Lost, line, column, what, "other files are not read")
	})
	var wrong *Error
	if errors.As(err, &wrong) {
		return i.fail(wrong.Line, wrong.Column, "%s", wrong.Reason)
	}
	providers := root.get("backend", "providers")
	if providers == nil || len(providers.keys) == 0 {
		return i.fail(1, 1, "it has no backend.providers")
	}
	const most = 200
	if len(providers.keys) > most {
		return i.fail(providers.line, providers.column, "it has more than %d backends", most)
	}
	for _, key := range root.keys {
		if key != "backend" {
			i.remark(Lost, root.fields[key].line, root.fields[key].column, key, "it is about Cromwell itself")
		}
	}
	return i.backends(providers)
}

// backends imports those providers that are made of commands.
func (i *importing) backends(providers *hoconValue) error {
	commands := 0
	for _, key := range providers.keys {
		if providers.get(key, "config", "submit") != nil {
			commands++
		}
	}
	if commands == 0 {
		return i.fail(providers.line, providers.column, "none of its backends is made of commands")
	}
	for _, key := range providers.keys {
		provider := providers.fields[key]
		if provider.get("config", "submit") == nil {
			i.remark(Lost, provider.line, provider.column, "backend "+key, "it is not made of commands: it has no config.submit")
			continue
		}
		name := i.backendName(key, commands == 1)
		if name == "" {
			return i.fail(provider.line, provider.column, "%.200q cannot be made the name of a target", key)
		}
		if err := i.backend(key, name, provider.get("config")); err != nil {
			return err
		}
	}
	return nil
}

// backendName returns the name of the target for a backend, empty if none can be made.
func (i *importing) backendName(key string, isOnly bool) string {
	name := free(nameOf(key), Cromwell)
	switch {
	case i.name == "":
		return name
	case isOnly:
		return i.name
	}
	return i.name + "-" + name
}

// A backend is one backend being imported.
type backend struct {
	*importing
	key        string
	settings   *hoconValue
	attributes []runtimeAttribute
	known      map[string]bool
}

// given are the names that Cromwell gives values to, and what has them here.
var given = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"script":    "${ptp_rm:managed_file_for_script#value}",
		"cwd":       "${ptp_rm:directory#value}",
		"out":       "${ptp_rm:out#value}",
		"err":       "${ptp_rm:err#value}",
		"job_name":  "${ptp_rm:job_name#value}",
		"job_shell": "${ptp_rm:job_shell#value}",
		"job_id":    "${ptp_rm:@jobId#name}",
	}
})

func (i *importing) backend(key, name string, found *hoconValue) error {
	b := &backend{importing: i, key: key, settings: found, known: map[string]bool{}}
	for known := range given() {
		b.known[known] = known != "job_id"
	}
	if declared := found.get("runtime-attributes"); declared != nil {
		var err error
		if b.attributes, err = i.runtimeAttributes(declared); err != nil {
			return err
		}
	}
	for _, one := range b.attributes {
		if _, taken := given()[one.name]; taken || one.name == "found" || one.name == "tag" {
			return i.fail(one.line, 1, "%q is what Cromwell gives a value to itself", one.name)
		}
		b.known[one.name] = true
	}
	submit, err := b.command("submit")
	if err != nil {
		return err
	}
	model, err := shippedFor(schedulerOf(found.get("submit").text))
	if err != nil {
		return err
	}
	d := &document{
		comment:    fmt.Sprintf("%s, made of a backend of Cromwell. Values reach the commands as variables, not as text that a shell reads.", key),
		attributes: fmt.Sprintf(` name="%s"`, escaped(name)),
	}
	b.writeAttributes(d, model == nil)
	b.writeScript(d, model == nil)
	expression, err := b.idExpression()
	if err != nil {
		return err
	}
	fmt.Fprintf(&d.control, `    <submit-batch name="submit" directory="${ptp_rm:directory#value}" waitForId="true">
      <arg resolve="false">%s</arg>
%s      <stdout-parser delim="\n"><target ref="@jobId"><match><expression>%s</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser>
    </submit-batch>
`, escaped(inShell(b.submission(submit, model == nil), "submit")), b.variables(true), escaped(expression))
	if err := b.writeStatus(d, model); err != nil {
		return err
	}
	b.tellSettings()
	i.remark(Carried, found.line, found.column, "backend "+key, "target %q with the definition %s.xml", name, name)
	i.result.Files = append(i.result.Files, File{name + ".xml", d.text()})
	i.result.Targets = append(i.result.Targets, Target{Name: name, Definition: name + ".xml", Transport: settings.TransportLocal})
	return nil
}

// inShell writes a command line that gives a text to a shell, quoted as the words
// of a command are: between double quotes a backslash means something before
// another double quote only.
func inShell(text, name string) string {
	if strings.HasSuffix(text, `\`) {
		text += "\n"
	}
	return `sh -c "` + strings.ReplaceAll(text, `"`, `\"`) + `" ` + name
}

// command translates a command of the backend.
func (b *backend) command(setting string) (string, error) {
	at := b.settings.get(setting)
	if at.fields != nil || at.items != nil {
		return "", b.fail(at.line, at.column, "%s has to be a text", setting)
	}
	if len(at.text) > 64<<10 || strings.ContainsRune(at.text, 0) {
		return "", b.fail(at.line, at.column, "%s is no command", setting)
	}
	template := &commandTemplate{importing: b.importing, at: at, known: b.known, used: map[string]bool{}}
	return template.shell()
}

// safeText is what the values of runtime attributes may be made of: nothing that
// a shell reads as more than a word.
const safeText = `[\w.,:=@%+/ -]*`

var safe = lazyregexp.New(`^[\w.,:=@%+/ -]*$`)

func (b *backend) writeAttributes(d *document, withCode bool) {
	for _, one := range b.attributes {
		value := ""
		if one.hasValue {
			value = fmt.Sprintf("<default>%s</default>", escaped(one.value))
		}
		kind, validator := "string", safeText
		switch one.kind {
		case "Int":
			kind, validator = "integer", ""
		case "Float":
			validator = `(-?[0-9]+(\.[0-9]+)?)?`
		case "Boolean":
			kind, validator = "boolean", ""
		}
		if validator == safeText && !safe.MatchString(one.value) {
			b.remark(Changed, one.line, 1, one.name, "its default has characters that mean something to a shell; only it may have them")
		}
		fmt.Fprintf(&d.control, `    <attribute name="%s" type="%s"><description>%s, a runtime attribute of Cromwell</description>%s`, one.name, kind, one.name, value)
		if validator != "" {
			fmt.Fprintf(&d.control, `<validator><regex expression="%s"/><error-message>a plain word or number</error-message></validator>`, escaped(validator))
		}
		d.control.WriteString("</attribute>\n")
	}
	path := func(name, value, description string) {
		fmt.Fprintf(&d.control, `    <attribute name="%s" type="string"><description>%s</description><default>%s</default><validator><regex expression="%s"/><error-message>a path of plain characters</error-message></validator></attribute>`+"\n",
			name, description, escaped(value), escaped(safeText))
	}
	path("job_name", "${ptp_rm:executableName#value}", "Name of the job")
	path("out", "${ptp_rm:directory#value}/${ptp_rm:job_name#value}.out", "File for standard output")
	path("err", "${ptp_rm:directory#value}/${ptp_rm:job_name#value}.err", "File for standard error")
	shell := "/bin/bash"
	if own := b.settings.get("job-shell"); own != nil && isPath(own.text) {
		shell = own.text
	}
	fmt.Fprintf(&d.control, `    <attribute name="job_shell" visible="false"><default>%s</default></attribute>
    <attribute name="stdout_remote_path" visible="false"><default>${ptp_rm:out#value}</default></attribute>
    <attribute name="stderr_remote_path" visible="false"><default>${ptp_rm:err#value}</default></attribute>
`, escaped(shell))
	if withCode {
		d.control.WriteString(`    <attribute name="job.exitCode" visible="false"/>` + "\n")
	}
}

// writeScript writes what Cromwell writes around a task: where its output goes and,
// if asked to, its exit code in a file of its own.
func (b *backend) writeScript(d *document, withCode bool) {
	d.control.WriteString(`    <script insertEnvironmentAfter="2" deleteAfterSubmit="false">
      <line><arg>#!${ptp_rm:job_shell#value}</arg></line>
      <line><arg>exec &gt;'${ptp_rm:out#value}' 2&gt;'${ptp_rm:err#value}'</arg></line>
      <line><arg>cd '${ptp_rm:directory#value}' || exit 1</arg></line>
      <line><arg>${ptp_rm:executablePath#value} ${ptp_rm:progArgs#value}</arg></line>
`)
	if withCode {
		d.control.WriteString(`      <line><arg resolve="false">code=$?</arg></line>
      <line><arg>echo "$code" &gt;'${ptp_rm:ptpDirectory#value}/${ptp_rm:job.tag#value}.rc'</arg></line>
      <line><arg resolve="false">exit "$code"</arg></line>
`)
	}
	d.control.WriteString("    </script>\n")
}

// submission returns the command that submits. Where the exit code is in a file
// called by the submission's tag, what the command prints is kept beside it, so
// that the file is found by the id of the job.
func (b *backend) submission(command string, withCode bool) string {
	if !withCode {
		return command
	}
	return "{ " + command + "\n" + `} >"${wdl_settings}/${wdl_tag}.submitted"; code=$?; cat "${wdl_settings}/${wdl_tag}.submitted"; exit "$code"`
}

// variables writes the variables that commands find values in.
func (b *backend) variables(submitting bool) string {
	var text strings.Builder
	values := map[string]string{}
	for name, value := range given() {
		if name != "job_id" || !submitting {
			values[name] = value
		}
	}
	values["settings"], values["tag"] = "${ptp_rm:ptpDirectory#value}", "${ptp_rm:job.tag#value}"
	if !submitting {
		delete(values, "tag")
	}
	for _, one := range b.attributes {
		values[one.name] = fmt.Sprintf("${ptp_rm:%s#value}", one.name)
	}
	for _, name := range sortedKeys(values) {
		fmt.Fprintf(&text, `      <environment name="%s%s" value="%s"/>`+"\n", variablePrefix, name, escaped(values[name]))
	}
	return text.String()
}

// idExpression makes an expression for a whole line of one that is searched for.
func (b *backend) idExpression() (string, error) {
	at := b.settings.get("job-id-regex")
	if at == nil {
		return "", b.fail(b.settings.line, b.settings.column, "backend %s has no job-id-regex: its jobs would have no id", b.key)
	}
	flags, _ := javaregex.ParseFlags("")
	compiled, err := javaregex.Compile(at.text, flags)
	if err != nil {
		return "", b.fail(at.line, at.column, "job-id-regex: %v", err)
	}
	if compiled.Groups() != 1 {
		return "", b.fail(at.line, at.column, "job-id-regex has %d groups, and one of them has to be the id", compiled.Groups())
	}
	return "(?:.*?)" + at.text + "(?:.*)", nil
}

// writeStatus writes how jobs are ended and asked for: as the shipped definition
// for the scheduler does, or by what the backend and its scripts leave.
func (b *backend) writeStatus(d *document, model *shipped) error {
	b.known["job_id"] = true
	kill, alive := b.settings.get("kill"), b.settings.get("check-alive")
	var f *filling
	if model != nil {
		f = &filling{importing: b.importing, from: model, to: d, defined: map[string]bool{"job_name": true, "out": true, "err": true, "job_shell": true, "stdout_remote_path": true, "stderr_remote_path": true}}
		for _, one := range b.attributes {
			f.defined[one.name] = true
		}
	}
	var status, end string
	switch {
	case model != nil:
		if _, err := f.take(model.control, false, string(config.GetJobStatus)); err != nil {
			return err
		}
		b.remark(Added, 0, 0, "get-job-status", "as in %s, which tells more than check-alive does", model.name)
	case alive == nil:
		return b.fail(b.settings.line, b.settings.column, "backend %s has no check-alive, and its scheduler is not known: nothing would tell what becomes of jobs", b.key)
	default:
		command, err := b.command("check-alive")
		if err != nil {
			return err
		}
		script := `code=; cd "${wdl_settings}" && for kept in $(ls -t *.submitted 2>/dev/null); do
          if grep -qwF -e "${wdl_job_id}" "$kept"; then code=${kept%.submitted}.rc; break; fi; done
        if [ -s "$code" ]; then echo "ended $(cat "$code")"; elif ` + "{ " + command + "\n" + `} >/dev/null 2>&1; then echo alive; else echo gone >&2; exit 44; fi`
		status = fmt.Sprintf(statusWithoutModel, escaped(inShell(script, "status")), b.variables(false))
		b.remark(Carried, alive.line, alive.column, "check-alive", "a job that it does not find, and that has left no exit code, is missing")
	}
	if kill != nil {
		command, err := b.command("kill")
		if err != nil {
			return err
		}
		end = fmt.Sprintf("<terminate-job name=\"kill\">\n      <arg resolve=\"false\">%s</arg>\n%s    </terminate-job>", escaped(inShell(command, "kill")), b.variables(false))
	} else {
		b.remark(Lost, b.settings.line, b.settings.column, "kill", "there is none, so that jobs cannot be cancelled")
	}
	b.remark(Lost, 0, 0, "x:find-job", "the command that submits does not hand the tag of the submission on; see docs/definitions.md")
	if f == nil {
		fmt.Fprintf(&d.control, "%s    %s\n    <x:outcome kind=\"not-found\" exit=\"44\"/>\n", status, end)
		d.control.WriteString(b.portable())
		return nil
	}
	f.parts = append(f.parts, end)
	for _, control := range []config.CommandElement{config.SuspendJob, config.ResumeJob, config.HoldJob, config.ReleaseJob} {
		if _, err := f.take(model.control, false, string(control)); err != nil {
			return err
		}
	}
	if err := f.extras(func(string) bool { return false }); err != nil {
		return err
	}
	d.monitorStart = fmt.Sprintf(` schedulerType="%s"`, escaped(model.definition.Monitor.SchedulerType))
	f.finishAround()
	d.control.WriteString(b.portable())
	return nil
}

const statusWithoutModel = `    <get-job-status name="check-alive">
      <arg resolve="false">%s</arg>
%s      <stdout-parser delim="\n" applyToAll="true">
        <target ref="@jobId">
          <match><expression>alive</expression><set field="value"><entry value="RUNNING"/></set></match>
          <match><expression>()ended 0</expression><set field="value"><entry value="COMPLETED"/></set></match>
          <match><expression>()ended \d+</expression><set field="value"><entry value="FAILED"/></set></match>
        </target>
        <target ref="job.exitCode"><match><expression>ended (\d+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
      </stdout-parser>
    </get-job-status>
`

// finishAround writes the attributes that are needed before all that stands in the
// document already, where the schema wants them, and the parts behind it.
func (f *filling) finishAround() {
	before := f.to.control.String()
	parts := f.parts
	f.parts = nil
	f.to.control.Reset()
	f.finish()
	f.to.control.WriteString(before)
	f.parts = parts
	f.sortParts()
	for _, part := range f.parts {
		fmt.Fprintf(&f.to.control, "    %s\n", part)
	}
}

// runtimeNames are what runtime attributes are usually called, with the portable
// names for them. The unit is part of the name.
var runtimeNames = []struct{ pattern, link string }{
	{`cpu|cpus`, `name="cpusPerTask"`},
	{`gpu|gpus|gpuCount`, `name="gpus"`},
	{`memory_mb|mem_mb`, `name="memory" as="MB"`},
	{`memory_gb|mem_gb`, `name="memory" as="GB"`},
	{`runtime_minutes|minutes|time_minutes|walltime_minutes`, `name="wallTime" as="min"`},
	{`runtime_seconds|walltime_seconds|duration`, `name="wallTime" as="s"`},
	{`(?:\w+_)?(?:queue|partition)`, `name="queue"`},
	{`(?:\w+_)?(?:account|project)`, `name="account"`},
}

func (b *backend) portable() string {
	var links strings.Builder
	linked := map[string]bool{}
	for _, known := range runtimeNames {
		name, _, _ := strings.Cut(known.link, " ")
		pattern := regexp.MustCompile(`^(?:` + known.pattern + `)$`)
		at := slices.IndexFunc(b.attributes, func(one runtimeAttribute) bool { return pattern.MatchString(one.name) })
		if at < 0 || linked[name] {
			continue
		}
		linked[name] = true
		fmt.Fprintf(&links, `    <x:portable %s attribute="%s"/>`+"\n", known.link, b.attributes[at].name)
		b.remark(Added, b.attributes[at].line, 1, "portable "+strings.ReplaceAll(strings.ReplaceAll(name, "=", " "), `"`, ""), "sets attribute %q", b.attributes[at].name)
	}
	links.WriteString(`    <x:portable name="jobName" attribute="job_name"/>
    <x:portable name="stdout" attribute="out" as="absolute"/>
    <x:portable name="stderr" attribute="err" as="absolute"/>
`)
	return links.String()
}

// tellSettings reports the settings that are not in the result.
func (b *backend) tellSettings() {
	for _, key := range b.settings.keys {
		switch key {
		case "submit", "kill", "check-alive", "job-id-regex", "runtime-attributes", "job-shell":
			continue
		}
		reason, known := cromwellReasons()[key]
		if !known {
			reason = "it has no counterpart"
		}
		at := b.settings.fields[key]
		b.remark(Lost, at.line, at.column, fmt.Sprintf("backend %s: %s", b.key, key), "%s", reason)
	}
}

// schedulerOf tells by the program that submits which scheduler a backend uses;
// several have a qsub.
func schedulerOf(submit string) string {
	has := func(word string) bool {
		return regexp.MustCompile(`(?m)(?:^|[\s/(;&|])` + word + `(?:\s|$)`).MatchString(submit)
	}
	switch {
	case has("sbatch"):
		return "slurm"
	case has("bsub"):
		return "lsf"
	case has("condor_submit"):
		return "htcondor"
	case has("pjsub"):
		return "pjm"
	case has(`flux\s+(?:batch|submit)`):
		return "flux"
	case has("llsubmit"):
		return "loadleveler"
	case has("qsub") && (has("-terse") || has("-pe") || has("-cwd") || has("-wd")):
		return "gridengine"
	case has("qsub") && regexp.MustCompile(`-l\s*"?(?:select|nodes|walltime)=`).MatchString(submit):
		return "pbs"
	}
	return ""
}
