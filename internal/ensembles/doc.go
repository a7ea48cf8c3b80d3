// Package ensembles runs, finds and shows ensembles for commands, pages and the background process. The process
// that runs an ensemble has a control socket, over which others follow and edit it.
package ensembles
