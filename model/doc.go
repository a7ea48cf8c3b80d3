// Package model is a picture of parallel systems as their schedulers show them:
// a universe of resource managers, their machines with nodes, their queues with
// jobs, and the processes of jobs. Every element carries attributes, which are
// checked against definitions.
//
// A [Model] is written by [Model.Update], one writer at a time. Readers take a
// [Snapshot], which never changes, and listeners ([Model.Listen]) fetch events at
// their own pace. Neither ever waits for the other.
//
// What the elements carry comes from schedulers and is hostile: it is bounded and
// checked for its type, and never interpreted. Who shows it escapes it.
package model
