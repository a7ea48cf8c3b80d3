// Package job holds the types that describe a job: its observations, processes, events,
// submission and states. All of rmctl uses them, from the scheduler's answer to the record and
// JSON.
package job
