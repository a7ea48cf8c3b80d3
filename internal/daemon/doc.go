// Package daemon is the background process that stays between two calls of rmctl. It
// keeps connections open for the next command, and hosts sessions that clients attach
// to and leave.
//
// [Serve] is the process, a [Client] talks to it. Without it commands take longer, and
// nobody can detach from a job.
package daemon
