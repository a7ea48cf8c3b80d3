// Package job holds the types that describe a job: the job itself with what was
// observed of it, its processes, and the events of its history. Every part of
// rmctl uses these types, from the answer of a scheduler to the record, the
// runtime model and the JSON that people and programs read. It also holds the
// vocabulary of job states.
package job
