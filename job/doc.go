// Package job holds the types that describe a job: the job itself with what was
// observed of it, its processes, and the events of its history. Every part of
// rmctl uses these types, from the answer of a scheduler to the record, the
// runtime model and the JSON that people and programs read.
//
// The words for states are those of package state.
package job
