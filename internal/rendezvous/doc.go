// Package rendezvous is the protocol between a co-allocator and the processes of the parts of an
// ensemble: check-in, votes, release, messages and groups, over connections that others
// make. DESIGN.md describes it.
package rendezvous
