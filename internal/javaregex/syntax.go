package javaregex

// A node is one construct of a parsed expression: one of the types below.
// Flags are already worked into the nodes, so a node means the same wherever
// it stands.
type node interface{}

type (
	// one matches one rune of the set.
	one struct{ set runeSet }

	// sequence matches its parts one after the other; without parts, the empty text.
	sequence struct{ parts []node }

	// alternation matches the first branch that lets the rest match.
	alternation struct{ branches []node }

	// group is (…), (?:…) or (?>…).
	group struct {
		body    node
		capture int // its number, 0 when it does not capture
		atomic  bool
	}

	// repeat is a quantified node.
	repeat struct {
		body     node
		min, max int // max is unlimited for "no upper bound"
		mode     repeatMode
		counted  bool // written as {…}
	}

	// look is a lookahead or lookbehind.
	look struct {
		body             node
		behind, negative bool
	}

	// backreference matches the text of a group once more.
	backreference struct {
		group                          int
		ignoreCase, ignoreNonASCIICase bool
	}

	// assertion matches the empty text at certain places.
	assertion struct{ kind assertionKind }

	// lineBreak is \R.
	lineBreak struct{}
)

// unlimited is the upper bound of a repeat without one, and the largest valid count.
const unlimited = 1<<31 - 1

type repeatMode uint8

const (
	greedy repeatMode = iota
	lazy
	possessive
)

type assertionKind uint8

const (
	textStart         assertionKind = iota // \A and ^
	textEnd                                // \z
	lastLineEnd                            // \Z and $
	lastUnixLineEnd                        // the same where only \n ends a line
	lineStart                              // ^ of MULTILINE
	unixLineStart                          // the same where only \n ends a line
	lineEnd                                // $ of MULTILINE
	unixLineEnd                            // the same where only \n ends a line
	wordEdge                               // \b
	noWordEdge                             // \B
	unicodeWordEdge                        // \b under UNICODE_CHARACTER_CLASS
	noUnicodeWordEdge                      // \B under UNICODE_CHARACTER_CLASS
	previousMatchEnd                       // \G
)

// A program is a parsed expression.
type program struct {
	root   node
	groups int // capturing groups
}
