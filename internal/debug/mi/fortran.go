package mi

import (
	"strconv"
	"strings"
)

// isFortran reports whether a type is one of Fortran.
func isFortran(typeName string) bool {
	base, _, _ := strings.Cut(typeName, "(")
	base = strings.TrimSpace(base)
	return strings.HasPrefix(base, "Type ") || strings.HasPrefix(typeName, base+"(kind=") || base == "character"
}

// fortranChild returns the expression for a child of a value in Fortran, for which gdb gives one of C. In arrays, the last
// dimension comes first.
func fortranChild(parent, typeName, child string) string {
	if _, err := strconv.Atoi(child); err != nil {
		return parent + "%" + child
	}
	if open := strings.LastIndexByte(parent, '('); strings.HasSuffix(parent, ")") {
		if last := strings.LastIndexByte(parent, ':'); last > open {
			return parent[:last] + child + parent[last+1:]
		}
	}
	dimensions := strings.Count(typeName[strings.LastIndexByte(typeName, '(')+1:], ",")
	return parent + "(" + strings.Repeat(":,", dimensions) + child + ")"
}
