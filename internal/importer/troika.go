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
		"ssh_verbose":                  "rmctl -v tells what happens",
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
func (i *importing) troika() error {
	top, err := i.readYAML()
	if err != nil {
		return err
	}
	sites, err := top.mapping("sites")
	if err != nil {
		return err
	}
	if len(sites.node.Content) == 0 {
		return i.fail(sites.node.Line, sites.node.Column, "it has no sites")
	}
	const most = 500
	if len(sites.node.Content) > 2*most {
		return i.fail(sites.node.Line, sites.node.Column, "it has more than %d sites", most)
	}
	top.unasked(map[string]string{"controller": "it is code of Troika"})
	if err := sites.each(func(key *yaml.Node) error { return i.troikaSite(sites, key) }); err != nil {
		return err
	}
	if len(i.result.Targets) == 0 {
		return i.fail(sites.node.Line, sites.node.Column, "none of its sites can be a target: %s", i.result.Report[len(i.result.Report)-1].Text)
	}
	return nil
}

func (i *importing) troikaSite(sites *mapping, key *yaml.Node) error {
	one, err := sites.mapping(key.Value)
	if err != nil {
		return err
	}
	kind, at, err := one.text("type")
	if err != nil {
		return err
	}
	if at == nil {
		return i.fail(key.Line, key.Column, "%s has no type", one.path)
	}
	name := i.troikaName(sites, key)
	if name == "" {
		return i.fail(key.Line, key.Column, "%.200q cannot be made the name of a target", key.Value)
	}
	scheduler, known := troikaTypes[strings.ToLower(kind)]
	target := Target{Name: name, Transport: settings.TransportLocal}
	if isLost, err := i.troikaConnection(one, &target); err != nil || isLost {
		return err
	}
	model, err := shippedFor(scheduler)
	if err != nil {
		return err
	}
	if !known || model == nil {
		i.remark(Lost, at.Line, at.Column, one.path, "no definition is shipped for sites of the type %q", kind)
		return nil
	}
	s := &site{importing: i, name: name, scheduler: scheduler, programs: map[string]string{}, places: map[string][2]int{}, lines: map[string]string{}}
	if err := i.troikaPrograms(one, s); err != nil {
		return err
	}
	if target.Definition, err = s.definition(at.Line); err != nil {
		return err
	}
	i.remark(carried, key.Line, key.Column, one.path, "target %q with the definition %s", name, target.Definition)
	i.result.Targets = append(i.result.Targets, target)
	one.unasked(troikaReasons())
	return nil
}

// troikaName returns the name of the target of a site, empty if no name can be
// made.
func (i *importing) troikaName(sites *mapping, key *yaml.Node) string {
	name := free(nameOf(key.Value), Troika)
	switch {
	case i.name == "":
		return name
	case len(sites.node.Content) > 2: // several sites
		return i.name + "-" + name
	default:
		return i.name
	}
}

// troikaPrograms reads which programs the commands of a site call.
func (i *importing) troikaPrograms(one *mapping, s *site) error {
	return one.each(func(member *yaml.Node) error {
		program, isCommand := strings.CutSuffix(member.Value, "_command")
		if _, isOther := troikaReasons()[member.Value]; !isCommand || isOther {
			return nil
		}
		value, at, err := one.text(member.Value)
		if err != nil || at == nil {
			return err
		}
		if !isPath(value) && !isHost(value) {
			return i.fail(at.Line, at.Column, "%s: %.200q is no program that can be called", one.called(member.Value), value)
		}
		s.programs[program], s.places[program] = value, [2]int{at.Line, at.Column}
		return nil
	})
}

// troikaConnection sets where commands of a site run, and reports whether they
// cannot.
func (i *importing) troikaConnection(one *mapping, target *Target) (isLost bool, err error) {
	connection, at, err := one.text("connection")
	if err != nil || at == nil || connection == "local" {
		return false, err
	}
	if connection != "ssh" {
		i.remark(Lost, at.Line, at.Column, one.path, "there is no connection of the kind %q", connection)
		return true, nil
	}
	host, at, err := one.text("host")
	if err != nil {
		return false, err
	}
	if at == nil {
		return false, i.fail(one.node.Line, one.node.Column, "%s is reached by ssh and names no host", one.path)
	}
	if !isHost(host) {
		return false, i.fail(at.Line, at.Column, "%s: %.200q cannot be the name of a host", one.called("host"), host)
	}
	target.Transport, target.Host = settings.TransportOpenSSH, host
	return false, nil
}
