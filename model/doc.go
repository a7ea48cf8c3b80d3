// Package model is a picture of parallel systems as their schedulers show them:
// a universe of resource managers, their machines with nodes, their queues with
// jobs, and the processes of jobs. Every element carries attributes, which are
// checked against definitions.
//
// A [Model] is written by [Model.Update], one writer at a time. Readers take a
// [Snapshot], which never changes, wait for newer ones ([Model.Next]) and compare two
// ([Manager.Changes]). Neither side ever waits for the other.
//
// The attributes come from schedulers and are hostile: the model bounds them and
// checks their types, and never interprets them. Views escape them.
package model
