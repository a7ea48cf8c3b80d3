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
		"acls":                 "who may use a target is the system's matter: nothing is hidden from users who may not",
		"batch_connect":        "it is about interactive applications in the browser",
		"custom":               "it is for other applications",
		"metadata":             "it is for pages",
		"lib":                  "no library of the scheduler is loaded, only its commands are called",
		"version":              "rmctl doctor looks at the version itself",
		"copy_environment":     "what of the environment jobs get is an attribute of the definition, or the scheduler's default",
		"strict_host_checking": "hosts are always checked against known_hosts",
		"qstat_factor":         "the definition sets how often it queries: x:interval",
		"tmux_bin":             "jobs do not run in tmux",
		"ssh_hosts":            "one host is reached",
		"working_dir":          "it is a directory of the scheduler's own system",
		"libdrmaa_path":        "DRMAA is not used",
	}
})

// openOnDemand makes a target of a cluster file, whose schema is version 2.
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
		i.fail(at.Line, at.Column, "there is no definition for the adapter %q", adapter)
	}
	s := i.newSite(i.called(title), scheduler)
	if titled != nil && i.name == "" {
		i.remark(carried, titled.Line, titled.Column, "v2.metadata.title", "the target is called %q", s.name)
	}
	i.onDemandFolder(job, s)
	i.onDemandEnvironment(job, s)
	i.onDemandCluster(job, s)
	i.onDemandPrograms(job, s)
	definition := s.definition(at.Line)
	i.remark(carried, at.Line, at.Column, "v2.job.adapter", "the definition is %s", definition)
	target := Target{Name: s.name, Definition: definition, Transport: settings.TransportLocal}
	s.fill(&target)
	i.onDemandHost(cluster, job, &target)
	i.result.Targets = []Target{target}
	for _, each := range []*mapping{metadata, job, cluster} {
		each.remarkUnread(withoutCounterpart())
	}
}

// onDemandVariables are members with the variables by which commands find their scheduler.
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
		i.fail(at.Line, at.Column, "%s: %.200q is no path that can be used", job.called(name), path)
	}
	return path, at
}

// jobWord returns a member of v2.job that has to be a name; at is nil if it is absent.
func (i *importing) jobWord(job *mapping, name string) (word string, at *yaml.Node) {
	word, at = job.text(name)
	if at != nil && !isHost(word) {
		i.fail(at.Line, at.Column, "%s: %.200q is no name", job.called(name), word)
	}
	return word, at
}

func (i *importing) onDemandFolder(job *mapping, s *site) {
	folder, at := i.jobPath(job, "bin")
	if at != nil {
		s.folder = folder
		i.remark(carried, at.Line, at.Column, "v2.job.bin", "programs are looked for there, then in %s", usualPath)
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
		i.remark(carried, at.Line, at.Column, "v2.job."+member, "commands find it in %s", variables[member])
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
		i.remark(carried, at.Line, at.Column, "v2.job.cluster", "it is the value of attribute \"clusters\", and in SLURM_CLUSTERS for the other commands")
	}
}

// onDemandPrograms reads the programs that replace those of the scheduler.
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
			i.fail(at.Line, at.Column, "%s: %.200q cannot be the name of a host", each.from.called(each.name), host)
		}
		target.Transport, target.Host = settings.TransportSSH, host
		i.remark(changed, at.Line, at.Column, each.from.called(each.name), "commands run there by SSH; where rmctl itself runs on that machine set transport = \"local\"")
	}
	login.remarkUnread(withoutCounterpart())
}
