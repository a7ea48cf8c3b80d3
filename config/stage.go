package config

// A Stage is a part of a job's life: one of these, a detailed state, or, after "word:", a
// word of the scheduler.
type Stage string

// The stages.
const (
	Waiting Stage = "waiting" // not yet started, held or not
	Running Stage = "running" // started, suspended or not
)
