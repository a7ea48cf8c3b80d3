// Package server debugs one rank of a parallel program on its node, for a client at the other end of a
// connection: it starts the program or attaches to it, answers requests by a debugger, and
// makes sure that the process is never left stopped. DESIGN.md describes how.
package server
