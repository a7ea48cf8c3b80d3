package rsl

import (
	"math/rand/v2"
	"strings"
)

// A generator makes requests: valid ones, and some with random changes.
type generator struct{ random *rand.Rand }

func (g *generator) one(of ...string) string { return of[g.random.IntN(len(of))] }

func (g *generator) chance(percent int) bool { return g.random.IntN(100) < percent }

func (g *generator) request() string {
	text := g.blank() + g.spec(0) + g.blank()
	if g.chance(75) {
		return text
	}
	for range 1 + g.random.IntN(2) {
		at := g.random.IntN(len(text) + 1)
		piece := g.one("", "(", ")", "$", "#", "&", "+", "|", "=", "!", "<", ">", `"`, "'", "^", "*", "~", "?", "(*", "*)", "a", " ", "\r", "$(ROOT)", "~x", "!=")
		remove := min(g.random.IntN(2), len(text)-at)
		text = text[:at] + piece + text[at+remove:]
	}
	if g.chance(20) {
		text += g.one("~zz", ` "`, "(* x", "!", " ^", "*", "tail", ")")
	}
	return text
}

func (g *generator) blank() string {
	switch {
	case g.chance(70):
		return ""
	case g.chance(2):
		return g.one("\r\n", "\v", "\f")
	}
	return g.one(" ", "  ", "\t", "\n", "(* c *)", "(***)", "(*)*)")
}

func (g *generator) spec(depth int) string {
	if depth > 3 || depth > 0 && g.chance(65) || g.chance(4) {
		return g.relation()
	}
	var text strings.Builder
	text.WriteString(g.one("&", "&", "&", "+", "|"))
	if g.chance(60) {
		text.WriteString("(rsl_substitution=" + g.one("(A 1)", "(A $(HOME))(B x$(A))", "(A 1)(B 2)(C 3)(a 4)", "(A 5)(A 6)") + ")")
	}
	for range 1 + g.random.IntN(4) {
		text.WriteString(g.blank() + "(" + g.blank() + g.spec(depth+1) + g.blank() + ")")
	}
	return text.String()
}

func (g *generator) relation() string {
	if g.chance(30) {
		var pairs strings.Builder
		for range 1 + g.random.IntN(3) {
			pairs.WriteString(g.blank() + "(" + g.one("A", "B", "A", "C", "$(A)") + " " + g.simple(0) + g.one("", "", "", "", "", "", "", "", "", "", "", " z") + ")")
		}
		return g.one("rsl_substitution", "rslSubstitution", "RSL_SUBSTITUTION") + "=" + pairs.String()
	}
	name := g.one("a", "b", "Max_Wall_Time", "count", `"two words"`, "'q'", "é", "\xff")
	return name + g.blank() + g.one("=", "=", "=", "=", "!=", "<", "<=", ">", ">=") + g.values(0)
}

func (g *generator) values(depth int) string {
	var text strings.Builder
	for i := range 1 + g.random.IntN(3) {
		if i > 0 {
			text.WriteString(g.one(" ", " ", " ", "\n", "(* c *)", ""))
		}
		if depth < 3 && g.chance(15) {
			text.WriteString("(" + g.blank() + g.values(depth+1) + g.blank() + ")")
		} else {
			text.WriteString(g.simple(depth))
		}
	}
	return text.String()
}

func (g *generator) simple(depth int) string {
	text := g.part(depth)
	for g.chance(30) {
		text += g.one("", "", "#", " # ", "(*c*)#", "\n#") + g.part(depth)
	}
	return text
}

func (g *generator) part(depth int) string {
	switch {
	case g.chance(50):
		return g.one("a", "b", "/bin/x", "1&2|3+4", "-v", "8", "x,y;z@h%20[1]{2}", `C:\t`, "é", "\xff\xfe", "A")
	case g.chance(1):
		return g.one("^é é", "^日x日日y日", "^éaé")
	case g.chance(2):
		return g.one("a~b", "*.txt", "x?", "a*", "~")
	case g.chance(50):
		return g.one(`"in put"`, `"a""b"`, `'it''s'`, `""`, "''", `"$(A)"`, `"(* no *)"`, "^%50%% x%", "^aba", "^))))", "^^x^", "\"line\nend\"", `"\"`, `"é"`, "'a\rb'")
	}
	name := g.one("A", "B", "HOME", "ROOT", "LEAF", "HOME", "C", `"A"`, "'B'", "a", "^%A%")
	fallback := ""
	if g.chance(10) && depth < 3 {
		fallback = " " + g.simple(depth+1) + g.one("", "", "", " x", "(1)")
	}
	return g.one("$", "$", "$", "$ ") + "(" + g.blank() + name + fallback + g.blank() + ")"
}
