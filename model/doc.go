// Package model represents parallel systems as their schedulers report them: resource managers, their
// machines with nodes, their queues with jobs, and the processes of jobs.
//
// [Model.Update] changes a [Model], one writer at a time. Readers take a [Snapshot], which never
// changes, wait for newer ones ([Model.Next]) and compare two ([Manager.Changes]). Neither side
// waits for the other.
//
// Attributes come from schedulers and are untrusted: the model bounds them and checks their types. Views
// escape them.
package model
