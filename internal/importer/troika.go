package importer

import (
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/rmctl/rmctl/internal/settings"
)

// troikaTypes are the site types of Troika, with the scheduler of each.
var troikaTypes = map[string]string{"slurm": "slurm", "pbs": "pbs", "sge": "gridengine", "lsf": "lsf", "direct": "rmctl_local"}

// Why members of a site are left out.
var troikaReasons = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"copy_script":                  "rmctl always stages scripts on the target",
		"at_startup":                   "rmctl doctor checks connections",
		"pre_submit":                   "create the output directory in a managed file or a pre-launch-cmd, if the scheduler does not",
		"post_kill":                    "use rmctl wait --on-end",
		"at_exit":                      "use rmctl explain",
		"ssh_command":                  "transport = \"openssh\" uses ssh from PATH",
		"scp_command":                  "files use the same connection as commands",
		"ssh_options":                  "set them in the ssh_config of the target",
		"ssh_verbose":                  "use rmctl -v",
		"ssh_strict_host_key_checking": "rmctl always checks hosts against known_hosts",
		"ssh_connect_timeout":          "set ConnectTimeout in ssh_config",
		"user":                         "set User in the ssh_config of the target",
		"kill_sequence":                "rmctl cancel runs the scheduler's command",
		"translators":                  "rmctl does not translate scripts with Troika directives; use portable names",
		"unknown_directive":            "rmctl does not translate scripts with Troika directives",
		"directive_prefix":             "rmctl does not translate scripts with Troika directives",
		"directive_translate":          "rmctl does not translate scripts with Troika directives; use attributes of the definition",
		"extra_directives":             "set attributes in the target instead",
		"default_shebang":              "use the attribute \"shell\" if the definition has it",
		"use_shell":                    "scripts begin with their shell",
		"shell":                        "scripts begin with their shell",
		"pmkdir_command":               "rmctl creates no directories",
	}
})

// troika makes a target of each site of a file.
func (i *importing) troika() {
	top := i.readYAML()
	sites := top.mapping("sites")
	keys := sites.keys()
	const most = 500
	switch {
	case len(keys) == 0:
		i.fail(sites.node.Line, sites.node.Column, "no sites")
		return
	case len(keys) > most:
		i.fail(sites.node.Line, sites.node.Column, "more than %d sites", most)
		return
	}
	top.remarkUnread(map[string]string{"controller": "code of Troika"})
	for _, key := range keys {
		i.troikaSite(sites, key)
	}
	if report := i.result.Report; len(i.result.Targets) == 0 && i.err == nil {
		i.fail(sites.node.Line, sites.node.Column, "no site can become a target: %s", report[len(report)-1].Text)
	}
}

func (i *importing) troikaSite(sites *mapping, key *yaml.Node) {
	one := sites.mapping(key.Value)
	kind, at := one.text("type")
	if at == nil {
		i.fail(key.Line, key.Column, "%s has no type", one.path)
		return
	}
	name := i.troikaName(sites, key)
	if name == "" {
		i.fail(key.Line, key.Column, "cannot derive a target name from %.200q", key.Value)
	}
	scheduler, known := troikaTypes[strings.ToLower(kind)]
	target := Target{Name: name, Transport: settings.TransportLocal}
	if !i.troikaConnection(one, &target) {
		return
	}
	s := i.newSite(name, scheduler)
	if !known || s.model == nil {
		i.remark(Lost, at.Line, at.Column, one.path, "no shipped definition for sites of type %q", kind)
		return
	}
	i.troikaPrograms(one, s)
	target.Definition = s.definition(at.Line)
	i.remark(carried, key.Line, key.Column, one.path, "target %q with definition %s", name, target.Definition)
	i.result.Targets = append(i.result.Targets, target)
	one.remarkUnread(troikaReasons())
}

// troikaName returns the name of the target of a site, empty if no name can be
// made.
func (i *importing) troikaName(sites *mapping, key *yaml.Node) string {
	name := free(nameOf(key.Value), Troika)
	switch {
	case i.name == "":
		return name
	case len(sites.keys()) > 1:
		return i.name + "-" + name
	default:
		return i.name
	}
}

// troikaPrograms reads which programs the commands of a site call.
func (i *importing) troikaPrograms(one *mapping, s *site) {
	for _, member := range one.keys() {
		program, isCommand := strings.CutSuffix(member.Value, "_command")
		if _, isOther := troikaReasons()[member.Value]; !isCommand || isOther {
			continue
		}
		value, at := one.text(member.Value)
		if at == nil {
			continue
		}
		if !isPath(value) && !isHost(value) {
			i.fail(at.Line, at.Column, "%s: invalid program %.200q", one.called(member.Value), value)
		}
		s.programs[program], s.places[program] = value, [2]int{at.Line, at.Column}
	}
}

// troikaConnection sets where commands of a site run, and reports whether they
// can.
func (i *importing) troikaConnection(one *mapping, target *Target) bool {
	connection, at := one.text("connection")
	if at == nil || connection == "local" {
		return true
	}
	if connection != "ssh" {
		i.remark(Lost, at.Line, at.Column, one.path, "unknown connection type %q", connection)
		return false
	}
	host, at := one.text("host")
	if at == nil {
		i.fail(one.node.Line, one.node.Column, "%s uses ssh but has no host", one.path)
	} else if !isHost(host) {
		i.fail(at.Line, at.Column, "%s: invalid host name %.200q", one.called("host"), host)
	}
	target.Transport, target.Host = settings.TransportOpenSSH, host
	return true
}
