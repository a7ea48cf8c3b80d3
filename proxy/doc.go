// Package proxy reads and writes the proxy protocol, with which a client follows a resource
// manager through an agent beside its scheduler: the agent reports changes as updates, the
// client sends commands.
//
// A [Reader] and a [Writer] carry frames. [ParseCommand] and [ParseUpdate] give a frame its
// meaning, and the methods Frame of [Command] and [Update] are their inverse. [ClientState]
// and [AgentState] say what each side may send in a session, and what an update answers.
// A [Trace] records a session.
//
// The package starts no goroutines and knows neither schedulers nor the time. The peer is
// hostile: everything read is bounded before it is allocated, and never interpreted.
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
