// Package sorting sorts lists of structures. The functions of package slices exist once for each
// type of element in the binary, with 12 kB of instructions each; here only the moves do.
package sorting

import "slices"

// Stable sorts a list by a function that compares as [cmp.Compare] does. Equal elements keep
// their order.
func Stable[E any](list []E, compare func(a, b E) int) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if compared := compare(list[a], list[b]); compared != 0 {
			return compared
		}
		return a - b
	})
	sorted := make([]E, len(list))
	for place, at := range order {
		sorted[place] = list[at]
	}
	copy(list, sorted)
}
