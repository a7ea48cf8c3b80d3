package job

// A Process is what is known of one process of a parallel job. Its JSON is a
// contract with scripts.
type Process struct {
	Rank        int          `json:"rank"`           // its index in the job, from 0
	Node        string       `json:"node,omitempty"` // empty while unknown
	PID         int          `json:"pid,omitempty"`  // on that node; 0 while unknown
	State       ProcessState `json:"state"`
	ExitCode    *int         `json:"exitCode,omitempty"`    // nil while unknown
	Signal      *int         `json:"signal,omitempty"`      // the signal that ended it, nil while unknown
	Output      string       `json:"output,omitempty"`      // the end of its output
	ErrorOutput string       `json:"errorOutput,omitempty"` // the end of its standard error, if that is a separate stream
}

// A ProcessState is one of the states that the runtime model has for processes:
// RUNNING, EXITED, EXITED_SIGNALLED, ERROR where it could not be started, and UNKNOWN
// if the job is over and the end of the process was not observed.
type ProcessState string
