package definition

// Changes are the changes since the previous line of the command "changes".
type Changes struct {
	Jobs     JobChanges `json:"jobs,omitzero"`
	Nodes    bool       `json:"nodes,omitempty"`
	Queues   bool       `json:"queues,omitempty"`
	Machines bool       `json:"machines,omitempty"`
	Manager  bool       `json:"manager,omitempty"` // the resource manager itself
}

// JobChanges name jobs.
type JobChanges struct {
	AreMany bool     `json:"many,omitempty"` // not all changed jobs are named
	Changed []string `json:"changed,omitempty"`
	Gone    []string `json:"gone,omitempty"`
}
