package xmltree

// An arena allocates slices from blocks, so that a tree of many small parts needs few allocations. A
// block lives as long as any slice of it.
type arena[T any] struct {
	free []T
	next int // size of the next block
}

// Blocks grow with the document, up to a size that wastes little.
const (
	smallestBlock = 32
	largestBlock  = 512
)

// allocate returns a slice of n zero values that cannot grow into what follows.
func (a *arena[T]) allocate(n int) []T {
	if n > len(a.free) {
		a.next = min(max(2*a.next, smallestBlock), largestBlock)
		a.free = make([]T, max(n, a.next))
	}
	taken := a.free[:n:n]
	a.free = a.free[n:]
	return taken
}
