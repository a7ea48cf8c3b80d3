package tree

import "time"

// Limits of questions.
const (
	usualTimeout = 30 * time.Second
	mostTimeout  = time.Hour
	mostHeight   = 16
)
