// Package proxy reads and writes the proxy protocol between a client and an agent next to a
// scheduler: the client sends commands, the agent reports changes as updates.
//
// A [Reader] and a [Writer] carry frames. [ParseCommand] and [ParseUpdate] interpret a frame; the
// methods Frame of [Command] and [Update] are their inverse. [ClientState] and [AgentState] say
// what each side may send. A [Trace] records a session.
//
// The package starts no goroutines and knows neither schedulers nor the time. It bounds what a
// hostile peer sends before it allocates memory.
package proxy

// Version is the version that both sides name in INIT. It never changed.
const Version = "2.0"

// Attributes that only rmctl sends. Other peers ignore them.
const (
	SessionAttribute   = "session"       // of INIT: the same for all connections of one client
	FeaturesAttribute  = "rmctlFeatures" // of ATTR_DEF and START_EVENTS: what a side supports
	LastEventAttribute = "lastEvent"     // of CHANGE_RM and START_EVENTS: the number of an event
	OperationAttribute = "operation"     // of CHANGE_JOB: hold, release, suspend or resume
)
