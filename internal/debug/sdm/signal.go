package sdm

// A signal describes a signal for clients.
type signal struct {
	name, description string
	stop, print, pass string // 1 or 0
}

func (s signal) arguments() []string {
	return []string{s.name, s.stop, s.print, s.pass, s.description}
}

// signals are the signals that programs get, with what gdb does when they come.
var signals = []signal{
	{"SIGHUP", "Hangup", "1", "1", "1"},
	{"SIGINT", "Interrupt", "1", "1", "0"},
	{"SIGQUIT", "Quit", "1", "1", "1"},
	{"SIGILL", "Illegal instruction", "1", "1", "1"},
	{"SIGTRAP", "Trace/breakpoint trap", "1", "1", "0"},
	{"SIGABRT", "Aborted", "1", "1", "1"},
	{"SIGBUS", "Bus error", "1", "1", "1"},
	{"SIGFPE", "Arithmetic exception", "1", "1", "1"},
	{"SIGKILL", "Killed", "1", "1", "1"},
	{"SIGUSR1", "User defined signal 1", "1", "1", "1"},
	{"SIGSEGV", "Segmentation fault", "1", "1", "1"},
	{"SIGUSR2", "User defined signal 2", "1", "1", "1"},
	{"SIGPIPE", "Broken pipe", "1", "1", "1"},
	{"SIGALRM", "Alarm clock", "0", "0", "1"},
	{"SIGTERM", "Terminated", "1", "1", "1"},
	{"SIGCHLD", "Child status changed", "0", "0", "1"},
	{"SIGCONT", "Continued", "1", "1", "1"},
	{"SIGSTOP", "Stopped (signal)", "1", "1", "1"},
	{"SIGTSTP", "Stopped (user)", "1", "1", "1"},
	{"SIGURG", "Urgent I/O condition", "0", "0", "1"},
	{"SIGXCPU", "CPU time limit exceeded", "1", "1", "1"},
	{"SIGXFSZ", "File size limit exceeded", "1", "1", "1"},
	{"SIGSYS", "Bad system call", "1", "1", "1"},
}

// signalNamed returns a signal. One that is not known has its name as description.
func signalNamed(name string) signal {
	for _, known := range signals {
		if known.name == name {
			return known
		}
	}
	return signal{name, name, "1", "1", "1"}
}
