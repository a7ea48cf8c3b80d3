package importer

import (
	"maps"
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
		"qstat_factor":         "how often is asked is the definition's matter: x:interval",
		"tmux_bin":             "jobs do not run in tmux",
		"ssh_hosts":            "one host is reached",
		"working_dir":          "it is a directory of the scheduler's own system",
		"libdrmaa_path":        "DRMAA is not used",
	}
})

// openOnDemand makes a target of a cluster file, whose schema is version 2.
func (i *importing) openOnDemand() error {
	top, err := i.readYAML()
	if err != nil {
		return err
	}
	cluster, err := top.mapping("v2")
	if err != nil {
		return err
	}
	top.unasked(nil)
	metadata, err := cluster.mapping("metadata")
	if err != nil {
		return err
	}
	title, titled, err := metadata.text("title")
	if err != nil {
		return err
	}
	job, err := cluster.mapping("job")
	if err != nil {
		return err
	}
	adapter, at, err := job.text("adapter")
	if err != nil {
		return err
	}
	if at == nil {
		return i.fail(job.node.Line, job.node.Column, "v2.job.adapter is missing: the cluster runs no jobs")
	}
	scheduler, known := adapters()[adapter]
	if !known {
		return i.fail(at.Line, at.Column, "there is no definition for the adapter %q", adapter)
	}
	s := &site{importing: i, name: i.called(title), scheduler: scheduler, programs: map[string]string{}, places: map[string][2]int{}, lines: map[string]string{}}
	if titled != nil && i.name == "" {
		i.remark(carried, titled.Line, titled.Column, "v2.metadata.title", "the target is called %q", s.name)
	}
	if err := i.onDemandJob(job, s); err != nil {
		return err
	}
	definition, err := s.definition(at.Line)
	if err != nil {
		return err
	}
	i.remark(carried, at.Line, at.Column, "v2.job.adapter", "the definition is %s", definition)
	target := Target{Name: s.name, Definition: definition, Transport: settings.TransportLocal}
	if err := i.onDemandHost(cluster, job, &target); err != nil {
		return err
	}
	i.result.Targets = []Target{target}
	reasons := maps.Clone(withoutCounterpart())
	metadata.unasked(reasons)
	job.unasked(reasons)
	cluster.unasked(reasons)
	return nil
}

// onDemandVariables are members that tell commands where their scheduler is.
var onDemandVariables = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"slurm":      {"conf": "SLURM_CONF"},
		"pbs":        {"exec": "PBS_EXEC", "host": "PBS_SERVER"},
		"torque":     {"host": "PBS_DEFAULT"},
		"gridengine": {"sge_root": "SGE_ROOT", "cluster": "SGE_CELL"},
		"lsf":        {"libdir": "LSF_LIBDIR", "envdir": "LSF_ENVDIR", "serverdir": "LSF_SERVERDIR"},
	}
})

// onDemandJob reads how commands are called.
func (i *importing) onDemandJob(job *mapping, s *site) error {
	for _, read := range []func(*mapping, *site) error{i.onDemandFolder, i.onDemandEnvironment, i.onDemandCluster, i.onDemandPrograms} {
		if err := read(job, s); err != nil {
			return err
		}
	}
	return nil
}

// checkJobPath refuses what cannot be the path of a member of v2.job.
func (i *importing) checkJobPath(value string, at *yaml.Node, name string) error {
	if !isPath(value) {
		return i.fail(at.Line, at.Column, "v2.job.%s: %.200q is no path that can be used", name, value)
	}
	return nil
}

func (i *importing) onDemandFolder(job *mapping, s *site) error {
	folder, at, err := job.text("bin")
	if err != nil || at == nil {
		return err
	}
	if err := i.checkJobPath(folder, at, "bin"); err != nil {
		return err
	}
	s.folder = folder
	i.remark(carried, at.Line, at.Column, "v2.job.bin", "programs are looked for there, then in %s", usualPath)
	return nil
}

// onDemandEnvironment reads the members that become variables of commands.
func (i *importing) onDemandEnvironment(job *mapping, s *site) error {
	variables := onDemandVariables()[s.scheduler]
	for _, member := range sortedKeys(variables) {
		value, at, err := job.text(member)
		if err != nil {
			return err
		}
		if at == nil {
			continue
		}
		if isWord := member == "host" || member == "cluster"; isWord && !isHost(value) {
			return i.fail(at.Line, at.Column, "v2.job.%s: %.200q is no name", member, value)
		} else if !isWord {
			if err := i.checkJobPath(value, at, member); err != nil {
				return err
			}
		}
		if member == "exec" {
			s.folder = value + "/bin"
		}
		s.variables = append(s.variables, [2]string{variables[member], value})
		i.remark(carried, at.Line, at.Column, "v2.job."+member, "commands find it in %s", variables[member])
	}
	return nil
}

// onDemandCluster reads the cluster of Slurm that commands are for.
func (i *importing) onDemandCluster(job *mapping, s *site) error {
	if s.scheduler != "slurm" {
		return nil
	}
	cluster, at, err := job.text("cluster")
	if err != nil || at == nil {
		return err
	}
	if !isHost(cluster) {
		return i.fail(at.Line, at.Column, "v2.job.cluster: %.200q is no name", cluster)
	}
	s.lines["clusters"] = cluster
	s.variables = append(s.variables, [2]string{"SLURM_CLUSTERS", cluster})
	i.remark(carried, at.Line, at.Column, "v2.job.cluster", "it is the default of attribute \"clusters\", and in SLURM_CLUSTERS for the other commands")
	return nil
}

// onDemandPrograms reads the programs that replace those of the scheduler.
func (i *importing) onDemandPrograms(job *mapping, s *site) error {
	overrides, err := job.mapping("bin_overrides")
	if err != nil {
		return err
	}
	return overrides.each(func(key *yaml.Node) error {
		value, at, err := overrides.text(key.Value)
		if err != nil || at == nil || value == "" {
			return err
		}
		if err := i.checkJobPath(value, at, "bin_overrides."+key.Value); err != nil {
			return err
		}
		s.programs[key.Value], s.places[key.Value] = value, [2]int{at.Line, at.Column}
		return nil
	})
}

// onDemandHost finds where commands run. Open OnDemand runs them on its own
// machine unless submit_host names another one; whoever imports the file is
// rather elsewhere, and so the login node is reached.
func (i *importing) onDemandHost(cluster, job *mapping, target *Target) error {
	login, err := cluster.mapping("login")
	if err != nil {
		return err
	}
	for _, each := range []struct {
		from *mapping
		name string
	}{{job, "submit_host"}, {login, "host"}} {
		host, at, err := each.from.text(each.name)
		if err != nil {
			return err
		}
		switch {
		case at == nil || host == "" || target.Host != "":
			continue
		case !isHost(host):
			return i.fail(at.Line, at.Column, "%s: %.200q cannot be the name of a host", each.from.called(each.name), host)
		}
		target.Transport, target.Host = settings.TransportSSH, host
		i.remark(changed, at.Line, at.Column, each.from.called(each.name), "commands run there by SSH; where rmctl itself runs on that machine set transport = \"local\"")
	}
	login.unasked(withoutCounterpart())
	return nil
}
