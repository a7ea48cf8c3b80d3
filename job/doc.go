// Package job holds the types that describe a job: what was observed of it, its processes, the
// events of its history, its submission, and the job states. All of rmctl uses them, from the
// scheduler's answer to the record and JSON.
package job
