package rendezvous

import "time"

// Bounds of the protocol.
const (
	protocolVersion = 1

	mostHeader  = 64 << 10
	mostPayload = 1 << 20 // of one message
	mostTag     = 256
	mostReason  = 1000

	mostUnproven   = 64 // connections that prove themselves at a time
	provingTime    = 5 * time.Second
	attemptTime    = 25 * time.Second // of a process to connect, with the time until it may prove itself
	linksOfProcess = 3                // proven connections of one process at a time: DESIGN.md says why

	mostQueued      = 10_000 // messages for one process
	mostQueuedBytes = 16 << 20
	mostKept        = 256 << 20 // bytes of messages and exchanges of an ensemble
	mostReceivers   = 256       // requests of one process that wait for messages
	mostUnwritten   = 64        // frames for one connection before its requests wait

	pingInterval = 20 * time.Second
	silence      = 70 * time.Second // after which the other end is lost
	probeTime    = 2 * time.Second  // of a process with a rank that another one claims
	writeTime    = 30 * time.Second // for one frame

	lastWordsTime = time.Second // in which a server that ends writes the rest, and a process reads it
)

// forgetTime is how long a process waits for the answer to a request that it gives up.
const forgetTime = 2 * time.Second

// Times between attempts of a process to connect.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)
