// Package prompt debugs a parallel program at a terminal: it reads commands, asks the focused ranks of a session, and
// prints merged answers.
package prompt
