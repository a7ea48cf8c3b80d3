package job

// A Process is what is known of one process of a parallel job.
type Process struct {
	Rank     int    // its index in the job, from 0
	Node     string // empty while unknown
	PID      int    // on that node; 0 while unknown
	State    string // such as RUNNING, EXITED, EXITED_SIGNALLED or UNKNOWN
	ExitCode *int   // nil while unknown
	Signal   *int   // the signal that ended it, nil while unknown
	Output   string // the end of what it printed
}
