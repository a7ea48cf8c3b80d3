package command

// Processes returns the processes that an environment holds.
var Processes = processesIn
