// Package daemon is the background process. It keeps connections open for the next command, and
// hosts interactive jobs that clients attach to and leave.
//
// [Serve] is the process; a [Client] connects to it. Without it, commands are slower and cannot
// detach from a job.
package daemon
