// Package sorting sorts slices of structures with little code: the functions of package slices add
// 12 kB to the binary for each type of element.
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
