package sdm

import (
	"slices"
	"strings"
)

// A typeKind is what the name of a type says. Only one of isInteger, isFloat, isChar, isBool, isUnion, isFunction and isArray
// is set; none if the name is that of a structure, or unknown.
type typeKind struct {
	name     string // without qualifiers
	size     int    // in bytes
	pointers int    // how many times it is a pointer
	isText   bool   // what it points to are characters

	isInteger, isSigned, isFloat, isChar, isBool, isUnion, isEnumeration, isFunction, isArray bool
}

// typeOf classifies a type by its name.
func typeOf(name string) typeKind {
	name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(withoutQualifiers(name)), "&"))
	base := strings.TrimRight(name, "* ")
	pointers := strings.Count(name[len(base):], "*")
	_, isArray := withoutArrayEnd(name)
	scalar, _, hasBounds := strings.Cut(name, ") (") // of Fortran
	isArray = isArray || hasBounds && strings.Contains(scalar, "(kind=")
	switch {
	case strings.Contains(name, "(*"):
		return typeKind{name: name, pointers: 1}
	case pointers > 0:
		target := typeOf(base)
		return typeKind{name: base, pointers: pointers + target.pointers, isText: target.isChar}
	case isArray || strings.HasPrefix(name, "[") || strings.Contains(name, ", dimension"):
		return typeKind{name: name, isArray: true}
	case strings.HasSuffix(name, ")") && !strings.Contains(name, "(kind=") && !strings.Contains(name, "anonymous"):
		return typeKind{name: name, isFunction: true}
	}
	for _, word := range []string{"struct ", "class ", "union ", "enum ", "Type "} {
		if rest, isCut := strings.CutPrefix(name, word); isCut {
			return typeKind{name: rest, isUnion: word == "union ", isEnumeration: word == "enum "}
		}
	}
	return scalarOf(name)
}

// scalarOf classifies a type without structure.
func scalarOf(name string) typeKind {
	if word, size, isFortran := fortranOf(name); isFortran {
		return typeKind{
			name: name, size: min(size, 8), isInteger: word == "integer", isSigned: true, isFloat: word == "real",
			isBool: word == "logical", isChar: word == "character",
		}
	}
	if found, isSized := sizedOf(name); isSized {
		isChar := found.bits == 8 // as debuggers print it
		return typeKind{
			name: name, size: found.bits / 8, isInteger: !found.isFloat && !isChar, isFloat: found.isFloat, isChar: isChar,
			isSigned: !found.isUnsigned,
		}
	}
	return wordsOf(name)
}

// kinds are the meanings of words in names of C types. A type of several words is their sum.
var kinds = map[string]typeKind{
	"char": {isChar: true, size: 1}, "short": {isInteger: true, size: 2}, "long": {isInteger: true, size: 8},
	"int": {isInteger: true, size: 4}, "signed": {isInteger: true, size: 4}, "unsigned": {isInteger: true, size: 4},
	"float": {isFloat: true, size: 4}, "double": {isFloat: true, size: 8}, "bool": {isBool: true, size: 1}, "_Bool": {isBool: true, size: 1},
}

// wordsOf classifies a C type by the words of its name.
func wordsOf(name string) typeKind {
	words := strings.Fields(name)
	kind := typeKind{name: name, isSigned: !slices.Contains(words, "unsigned")}
	for _, word := range words {
		part, isKnown := kinds[word]
		if !isKnown {
			return typeKind{name: name}
		}
		kind.isChar, kind.isFloat, kind.isBool = kind.isChar || part.isChar, kind.isFloat || part.isFloat, kind.isBool || part.isBool
		kind.size = max(kind.size, part.size)
	}
	kind.isInteger = len(words) > 0 && !kind.isChar && !kind.isFloat && !kind.isBool
	if slices.Contains(words, "short") {
		kind.size = 2
	}
	return kind
}
