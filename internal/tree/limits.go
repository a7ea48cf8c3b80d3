package tree

import "time"

// Limits of questions and launches.
const (
	usualTimeout    = 30 * time.Second
	mostTimeout     = time.Hour
	levelSlack      = 2 * time.Second // that each level of relays waits longer than the one below
	mostHeight      = 16
	mostQuestions   = 64 // at a time, of one asker
	mostParts       = 1 << 16
	mostAnswerBytes = 128 << 20
	mostRecent      = 1 << 10 // questions that a relay remembers
	mostChildren    = 1 << 13
	mostLost        = 1 << 12
	usualFanOut     = 32
	usualLaunch     = time.Minute
	listenLimit     = 5 * time.Second
	mostRanks       = 1 << 20 // of one group
)
