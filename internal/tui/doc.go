// Package tui is what the full-screen views of rmctl share: safe text, styles, a text
// input, a list to choose from, the loop that shows a view, and questions to the user.
//
// A view never waits: what takes time runs in the background, and a key is answered at
// once. What schedulers, jobs, hosts and definitions print is hostile: all of it goes
// through [Printable], [OneLine] or [Safe] before it is drawn.
package tui
