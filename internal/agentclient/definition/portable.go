package definition

import "slices"

// portablePrefix begins the hidden attributes for portable names that an rmctl agent accepts.
const portablePrefix = "portable."

// An ownName is a portable name in a submission to an rmctl agent.
type ownName struct{ name, link string }

// ownNames returns the portable names that the agent accepts by name.
func (w *writer) ownNames() []ownName {
	if !w.options.IsOwn {
		return nil
	}
	return []ownName{
		{"nodes", ""}, {"tasks", ""}, {"tasksPerNode", ""}, {"cpusPerTask", ""}, {"gpus", ""},
		{"memory", `as="B" text="{}B"`}, {"wallTime", `as="s" text="{}s"`}, {"queue", ""}, {"account", ""}, {"jobName", ""},
		{"stdout", `words="%j=%j %a=%a"`}, {"stderr", `words="%j=%j %a=%a"`}, {"array", ""},
		{"after", `text="ok:{}"`}, {"mail", `text="{events}" words="begin=begin end=end fail=fail"`}, {"reservation", ""}, {"exclusive", `text="true"`},
		{"stdin", ""}, {"preLaunch", `as="absolute"`}, {"postLaunch", `as="absolute"`},
	}
}

// A meaning maps an attribute of Eclipse PTP agents to a portable name.
type meaning struct{ attribute, name, link string }

// meanings are in order of precedence: only one attribute is used for each name.
func meanings() []meaning {
	return []meaning{
		{"jobNumNodes", "nodes", ""}, {"MP_NODES", "nodes", ""}, {"Resource_List.nodect", "nodes", ""},
		{"jobNumProcs", "tasks", ""}, {"MP_PROCS", "tasks", ""}, {"Resource_List.mpiprocs", "tasks", ""},
		{"MP_TASKS_PER_NODE", "tasksPerNode", ""},
		{"Resource_List.mem", "memory", `as="MiB" text="{}mb"`},
		{"jobTimeLimit", "wallTime", `as="min"`}, {"Resource_List.walltime", "wallTime", `as="h:mm:ss"`},
		{"jobPartition", "queue", ""},
		{"Account_Name", "account", ""},
		{"jobName", "jobName", ""}, {"Job_Name", "jobName", ""},
	}
}

// links returns the meanings of attributes that the agent has.
func (w *writer) links() []meaning {
	var links []meaning
	for _, each := range meanings() {
		isKnown := slices.ContainsFunc(w.attributes, func(a attribute) bool { return a.name == each.attribute })
		isLinked := slices.ContainsFunc(links, func(m meaning) bool { return m.name == each.name })
		if isKnown && !isLinked {
			links = append(links, each)
		}
	}
	return links
}

// linked returns the attributes with a portable name.
func (w *writer) linked() map[string]bool {
	linked := map[string]bool{}
	for _, link := range w.links() {
		linked[link.attribute] = true
	}
	return linked
}

// queueAttribute returns the attribute for the queue of a job.
func (w *writer) queueAttribute() string {
	for _, link := range w.links() {
		if link.name == "queue" {
			return link.attribute
		}
	}
	return "queueId"
}

func (w *writer) portable() {
	if w.options.IsOwn {
		for _, each := range w.ownNames() {
			attribute := portablePrefix + each.name
			if each.name == "queue" {
				attribute = "queueId"
			}
			w.link(each.name, attribute, each.link)
		}
		w.link("after", "portable.after", `when="any" text="any:{}"`)
		w.link("mail", mailAddress, `text=":{address}"`)
		return
	}
	for _, link := range w.links() {
		w.link(link.name, link.attribute, link.link)
	}
	if w.queueAttribute() == "queueId" {
		w.link("queue", "queueId", "")
	}
}

// mailAddress is the part of the portable name mail that follows the events.
const mailAddress = portablePrefix + "mailAddress"

// link writes a link of a portable name, with further attributes in XML.
func (w *writer) link(name, attribute, more string) {
	w.text.WriteString(`    <x:portable name="` + name + `" attribute="` + attribute + `" ` + more + "/>\n")
}
