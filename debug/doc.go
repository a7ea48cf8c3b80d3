// Package debug debugs the ranks of a parallel program together: one debugger for each rank, one
// session for all of them. It asks many ranks one question and merges equal answers, and it keeps
// which ranks are in the same state at the same place.
//
// The package does no I/O. A [Session] gets the lines that ranks send, and passes lines to them through
// functions that its caller gives it. Each line is a number, a space and a JSON object:
// a [Request] with its number to a rank, the [Answer] with the same number back, or a [Notice] with number
// 0. Equal answers have equal bytes, so that thousands of them are compared without being decoded.
package debug
