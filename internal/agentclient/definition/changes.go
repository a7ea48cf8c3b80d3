package definition

// Changes are what has changed since the line before, as a line of the command "changes" has it.
type Changes struct {
	Jobs     JobChanges `json:"jobs,omitzero"`
	Nodes    bool       `json:"nodes,omitempty"`
	Queues   bool       `json:"queues,omitempty"`
	Machines bool       `json:"machines,omitempty"`
	Manager  bool       `json:"manager,omitempty"` // the resource manager itself
}

// JobChanges name jobs.
type JobChanges struct {
	AreMany bool     `json:"many,omitempty"` // more than are named, or all that there are
	Changed []string `json:"changed,omitempty"`
	Gone    []string `json:"gone,omitempty"`
}
