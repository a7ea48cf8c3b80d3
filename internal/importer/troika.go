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
		"copy_script":                  "scripts are always staged on the target",
		"at_startup":                   "rmctl checks connections itself: rmctl doctor",
		"pre_submit":                   "create the directory of the output in a managed file or a pre-launch-cmd, if the scheduler does not",
		"post_kill":                    "what happens after the end is for rmctl wait --on-end",
		"at_exit":                      "rmctl keeps what commands printed: rmctl explain",
		"ssh_command":                  "transport = \"openssh\" uses the ssh of the PATH",
		"scp_command":                  "files go through the same connection as commands",
		"ssh_options":                  "write them into ssh_config, which the target names",
		"ssh_verbose":                  "rmctl -v shows what happens",
		"ssh_strict_host_key_checking": "hosts are always checked against known_hosts",
		"ssh_connect_timeout":          "write ConnectTimeout into ssh_config",
		"user":                         "write User into ssh_config, which the target names",
		"kill_sequence":                "cancel is what the scheduler's own command does",
		"translators":                  "scripts with directives of Troika are not translated; portable names say the same",
		"unknown_directive":            "scripts with directives of Troika are not translated",
		"directive_prefix":             "scripts with directives of Troika are not translated",
		"directive_translate":          "scripts with directives of Troika are not translated; the attributes of the definition are its directives",
		"extra_directives":             "set attributes in the target instead",
		"default_shebang":              "it is the attribute \"shell\" of the definition, where that has one",
		"use_shell":                    "scripts begin with the shell that runs them",
		"shell":                        "scripts begin with the shell that runs them",
		"pmkdir_command":               "no directories are made",
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
		i.fail(sites.node.Line, sites.node.Column, "it has no sites")
		return
	case len(keys) > most:
		i.fail(sites.node.Line, sites.node.Column, "it has more than %d sites", most)
		return
	}
	top.remarkUnread(map[string]string{"controller": "it is code of Troika"})
	for _, key := range keys {
		i.troikaSite(sites, key)
	}
	if report := i.result.Report; len(i.result.Targets) == 0 && i.err == nil {
		i.fail(sites.node.Line, sites.node.Column, "none of its sites can be a target: %s", report[len(report)-1].Text)
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
		i.fail(key.Line, key.Column, "%.200q cannot be made the name of a target", key.Value)
	}
	scheduler, known := troikaTypes[strings.ToLower(kind)]
	target := Target{Name: name, Transport: settings.TransportLocal}
	if !i.troikaConnection(one, &target) {
		return
	}
	s := i.newSite(name, scheduler)
	if !known || s.model == nil {
		i.remark(Lost, at.Line, at.Column, one.path, "no definition is shipped for sites of the type %q", kind)
		return
	}
	i.troikaPrograms(one, s)
	target.Definition = s.definition(at.Line)
	i.remark(carried, key.Line, key.Column, one.path, "target %q with the definition %s", name, target.Definition)
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
			i.fail(at.Line, at.Column, "%s: %.200q is no program that can be called", one.called(member.Value), value)
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
		i.remark(Lost, at.Line, at.Column, one.path, "there is no connection of the kind %q", connection)
		return false
	}
	host, at := one.text("host")
	if at == nil {
		i.fail(one.node.Line, one.node.Column, "%s is reached by ssh and names no host", one.path)
	} else if !isHost(host) {
		i.fail(at.Line, at.Column, "%s: %.200q cannot be the name of a host", one.called("host"), host)
	}
	target.Transport, target.Host = settings.TransportOpenSSH, host
	return true
}
