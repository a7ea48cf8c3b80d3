// Package daemon is the small process that stays between two calls of
// rmctl: it holds connections, so that the next command needs no new one, and
// hosts sessions whose terminals clients attach to and leave.
//
// [Serve] is the process, a [Client] talks to it. It is not needed: without it
// everything works, only slower.
package daemon
