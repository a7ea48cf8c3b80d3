package importer

import (
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/rmctl/rmctl/internal/settings"
)

// adapters are the job adapters of Open OnDemand, with the scheduler of each.
var adapters = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"slurm": "slurm", "pbspro": "pbs", "torque": "torque", "sge": "gridengine", "lsf": "lsf", "htcondor": "htcondor", "fujitsu_tcs": "pjm", "flux": "flux",
	}
})

// Why members of a cluster file are left out.
var withoutCounterpart = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"acls":                 "rmctl does not hide targets from users; the operating system controls access",
		"batch_connect":        "for interactive applications in the browser",
		"custom":               "for other applications",
		"metadata":             "for pages",
		"lib":                  "rmctl calls the scheduler's commands and loads no library",
		"version":              "rmctl doctor checks the version",
		"copy_environment":     "an attribute of the definition, or the scheduler's default, selects the environment of jobs",
		"strict_host_checking": "rmctl always checks hosts against known_hosts",
		"qstat_factor":         "the definition sets the interval of queries: x:interval",
		"tmux_bin":             "jobs do not run in tmux",
		"ssh_hosts":            "rmctl connects to one host",
		"working_dir":          "a directory of the scheduler's operating system",
		"libdrmaa_path":        "rmctl does not use DRMAA",
	}
})

// openOnDemand makes a target from a cluster file with schema version 2.
func (i *importing) openOnDemand() {
	top := i.readYAML()
	cluster := top.mapping("v2")
	top.remarkUnread(nil)
	metadata := cluster.mapping("metadata")
	title, titled := metadata.text("title")
	job := cluster.mapping("job")
	adapter, at := job.text("adapter")
	if at == nil {
		i.fail(job.node.Line, job.node.Column, "v2.job.adapter is missing: the cluster runs no jobs")
		return
	}
	scheduler, known := adapters()[adapter]
	if !known {
		i.fail(at.Line, at.Column, "no definition for adapter %q", adapter)
	}
	s := i.newSite(i.called(title), scheduler)
	if titled != nil && i.name == "" {
		i.remark(carried, titled.Line, titled.Column, "v2.metadata.title", "target %q", s.name)
	}
	i.onDemandFolder(job, s)
	i.onDemandEnvironment(job, s)
	i.onDemandCluster(job, s)
	i.onDemandPrograms(job, s)
	definition := s.definition(at.Line)
	i.remark(carried, at.Line, at.Column, "v2.job.adapter", "definition %s", definition)
	target := Target{Name: s.name, Definition: definition, Transport: settings.TransportLocal}
	s.fill(&target)
	i.onDemandHost(cluster, job, &target)
	i.result.Targets = []Target{target}
	for _, each := range []*mapping{metadata, job, cluster} {
		each.remarkUnread(withoutCounterpart())
	}
}

// onDemandVariables maps members to the variables with which commands find their scheduler.
var onDemandVariables = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"slurm":      {"conf": "SLURM_CONF"},
		"pbs":        {"exec": "PBS_EXEC", "host": "PBS_SERVER"},
		"torque":     {"host": "PBS_DEFAULT"},
		"gridengine": {"sge_root": "SGE_ROOT", "cluster": "SGE_CELL"},
		"lsf":        {"libdir": "LSF_LIBDIR", "envdir": "LSF_ENVDIR", "serverdir": "LSF_SERVERDIR"},
	}
})

// jobPath returns a member of v2.job that has to be a path; at is nil if it is absent.
func (i *importing) jobPath(job *mapping, name string) (path string, at *yaml.Node) {
	path, at = job.text(name)
	if at != nil && !isPath(path) {
		i.fail(at.Line, at.Column, "%s: invalid path %.200q", job.called(name), path)
	}
	return path, at
}

// jobWord returns a member of v2.job that has to be a name; at is nil if it is absent.
func (i *importing) jobWord(job *mapping, name string) (word string, at *yaml.Node) {
	word, at = job.text(name)
	if at != nil && !isHost(word) {
		i.fail(at.Line, at.Column, "%s: invalid name %.200q", job.called(name), word)
	}
	return word, at
}

func (i *importing) onDemandFolder(job *mapping, s *site) {
	folder, at := i.jobPath(job, "bin")
	if at != nil {
		s.folder = folder
		i.remark(carried, at.Line, at.Column, "v2.job.bin", "rmctl looks for programs there, then in %s", usualPath)
	}
}

// onDemandEnvironment reads the members that become variables of commands.
func (i *importing) onDemandEnvironment(job *mapping, s *site) {
	variables := onDemandVariables()[s.scheduler]
	for _, member := range sortedKeys(variables) {
		read := i.jobPath
		if member == "host" || member == "cluster" {
			read = i.jobWord
		}
		value, at := read(job, member)
		if at == nil {
			continue
		}
		if member == "exec" {
			s.folder = value + "/bin"
		}
		s.variables[variables[member]] = value
		i.remark(carried, at.Line, at.Column, "v2.job."+member, "in %s for all commands", variables[member])
	}
}

// onDemandCluster reads the cluster of Slurm that commands are for.
func (i *importing) onDemandCluster(job *mapping, s *site) {
	if s.scheduler != "slurm" {
		return
	}
	if cluster, at := i.jobWord(job, "cluster"); at != nil {
		s.attributes["clusters"] = cluster
		s.variables["SLURM_CLUSTERS"] = cluster
		i.remark(carried, at.Line, at.Column, "v2.job.cluster", "value of attribute \"clusters\", and SLURM_CLUSTERS for other commands")
	}
}

// onDemandPrograms reads the replacements of the scheduler's programs.
func (i *importing) onDemandPrograms(job *mapping, s *site) {
	overrides := job.mapping("bin_overrides")
	for _, key := range overrides.keys() {
		if value, at := overrides.text(key.Value); value != "" {
			i.jobPath(overrides, key.Value)
			s.programs[key.Value], s.places[key.Value] = value, [2]int{at.Line, at.Column}
		}
	}
}

// onDemandHost finds where commands run. Open OnDemand runs them on its own
// machine unless submit_host names another one; whoever imports the file is
// rather elsewhere, and so the login node is reached.
func (i *importing) onDemandHost(cluster, job *mapping, target *Target) {
	login := cluster.mapping("login")
	for _, each := range []struct {
		from *mapping
		name string
	}{{job, "submit_host"}, {login, "host"}} {
		host, at := each.from.text(each.name)
		if host == "" || target.Host != "" {
			continue
		}
		if !isHost(host) {
			i.fail(at.Line, at.Column, "%s: invalid host name %.200q", each.from.called(each.name), host)
		}
		target.Transport, target.Host = settings.TransportSSH, host
		i.remark(changed, at.Line, at.Column, each.from.called(each.name), "commands run there over SSH; if rmctl runs on that machine, set transport = \"local\"")
	}
	login.remarkUnread(withoutCounterpart())
}
