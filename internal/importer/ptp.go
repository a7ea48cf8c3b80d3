package importer

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// originalSuffix ends the name of the copy of a definition that the imported one extends.
const originalSuffix = "-original.xml"

// ptp keeps the definition as it is, comments included, and makes another one that
// extends it by what the shipped one for its scheduler has beyond the format.
func (i *importing) ptp() {
	original, problems := check.Load(i.file, i.source, check.ReadBase)
	isStrict := problems.Err() == nil
	if original != nil && len(original.Commands) > 0 { // otherwise the whole file would be ignored
		problems = problems.Lenient()
	}
	for _, problem := range problems {
		switch {
		case problem.Severity == config.Error:
			i.fail(problem.Line, problem.Column, "%s (%s)", problem.Message, problem.Code)
			return
		case problem.Code == "unknown-element", problem.Code == "unknown-attribute":
			i.remark(Lost, problem.Line, problem.Column, strings.ReplaceAll(problem.Code, "-", " "), "%s, from PTP", problem.Message)
		}
	}
	if original == nil {
		i.fail(1, 1, "not a definition")
		return
	}
	if files := original.Files; len(files) > 1 {
		i.fail(1, 1, "already a definition of rmctl: it extends %s", files[1])
		return
	}
	name := i.called(strings.TrimSuffix(original.Name, ".xml"))
	base := name + originalSuffix
	d := &document{
		comment:    fmt.Sprintf("%s, with what PTP's format cannot express. Everything else is in %s.", name, base),
		attributes: fmt.Sprintf(` name="%s" x:extends="%s"`, xmltree.Escape(name), xmltree.Escape(base)),
	}
	if !isStrict {
		d.attributes += ` x:lenient="true"`
	}
	i.remark(carried, 1, 1, "the definition", "unchanged in %s, which %s.xml extends", base, name)
	i.fillPTP(d, original)
	i.result.Files = []File{{name + ".xml", d.text()}, {base, string(i.source)}}
	i.result.Targets = []Target{i.ptpTarget(name, original)}
}

func (i *importing) fillPTP(d *document, original *config.Definition) {
	scheduler := original.Monitor.SchedulerType
	model := i.shippedFor(scheduler)
	switch {
	case scheduler == "":
		i.remark(Lost, original.Line, original.Column, "extensions", "cannot choose a shipped definition: monitor-data has no schedulerType")
	case model == nil:
		i.remark(Lost, original.Monitor.Line, original.Monitor.Column, "extensions", "no shipped definition for scheduler %q", scheduler)
	}
	status := original.Command(config.GetJobStatus)
	if model != nil {
		f := &filling{importing: i, from: model, to: d, defined: map[string]bool{}}
		for _, a := range original.Attributes {
			f.defined[a.Name()] = true
		}
		f.extras(func(name string) bool { return hasExtension(original, name) })
		submit := original.Submit(false)
		if submit != nil && original.Command(config.FindJob) == nil {
			f.findJob(submit, original.Script, submit.Line)
		}
		f.finish()
	}
	if status != nil && len(status.Fallbacks) == 0 {
		i.remark(Lost, status.Line, status.Column, "x:fallback", "get-job-status stays as in the definition; check that it knows all output of %s", program(status))
	}
	d.control.WriteString(i.portableLinks(original))
}

func hasExtension(d *config.Definition, name string) bool {
	switch name {
	case "outcome":
		return len(d.Outcomes) > 0
	case "probe":
		return len(d.Probes) > 0
	}
	return d.Command(config.CommandElement(name)) != nil
}

// ptpTarget is the host of the definition's connection.
func (i *importing) ptpTarget(name string, d *config.Definition) Target {
	target := Target{Name: name, Definition: name + ".xml", Transport: settings.TransportLocal}
	if d.Site.ControlConnection == "" {
		return target
	}
	host := connectionHost(d.Site.ControlConnection)
	if host == "" {
		i.remark(Lost, d.Line, d.Column, "control-connection", "invalid SSH host %q", d.Site.ControlConnection)
		return target
	}
	target.Transport, target.Host = settings.TransportSSH, host
	i.remark(changed, d.Line, d.Column, "control-connection", "the target connects to %s over SSH; on that machine, set transport = \"local\"", host)
	return target
}

// connectionHost returns the host of a URL such as ssh://user@host:22/path, empty
// if it has no host for ssh.
func connectionHost(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "/")
	rest = rest[strings.LastIndex(rest, "@")+1:]
	host, _, _ := strings.Cut(rest, ":")
	if !isHost(host) || host == "localhost" {
		return ""
	}
	return host
}

// isHost reports whether a text can be the name of a host for ssh.
func isHost(text string) bool {
	return text != "" && !strings.HasPrefix(text, "-") && outsideNames.FindString(text) == ""
}
