package rsl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func mustParse(t testing.TB, text string) Spec {
	t.Helper()
	spec, err := Parse(text)
	require.NoError(t, err, text)
	return spec
}

func TestNodesHaveTheirPositions(t *testing.T) {
	spec := mustParse(t, "(* é *) &\n\t(é=x (y)\r\n  $(Z)\"t\")")
	boolean := spec.(*Boolean)
	require.Equal(t, Position{Offset: 9, Line: 1, Column: 9}, boolean.Pos())
	relation := boolean.Specs[0].(*Relation)
	require.Equal(t, Position{Offset: 13, Line: 2, Column: 3}, relation.Pos())
	require.Equal(t, Position{Offset: 16, Line: 2, Column: 5}, relation.Values[0].Pos())
	require.Equal(t, Position{Offset: 18, Line: 2, Column: 7}, relation.Values[1].Pos())
	concatenation := relation.Values[2].(*Concatenation)
	require.Equal(t, Position{Offset: 25, Line: 3, Column: 3}, concatenation.Pos())
	require.Equal(t, Position{Offset: 29, Line: 3, Column: 7}, concatenation.Parts[1].Pos())
}

func TestQuotedTextTouchingAReferenceIsJoined(t *testing.T) {
	spec := mustParse(t, `&(a="x"$(R)'y'^%z%)(b="x"y "x" $(R) "y")(c=$(R)(* *)"x")`)
	require.Equal(t, `&("a" = "x" # $("R") # "y" "z" )("b" = "x" "y" "x" $("R") "y" )("c" = $("R") "x" )`, Print(spec))
}

func TestWordsMayContainWildcards(t *testing.T) {
	require.Equal(t, `&("a" = "*.txt" "a?b*" "~/x" $("R") # "*" )`, Print(mustParse(t, `&(a=*.txt a?b* ~/x $(R)*)`)))
	require.Equal(t, `&("a" = "x" ("y" ) )`, Print(mustParse(t, `&(a=x (* . *) (y))`)), "(* opens a comment")
}

func TestCarriageReturnsAreBlanks(t *testing.T) {
	require.Equal(t, `&("a" = "b" "c" "d" )("d" = "e" )`, Print(mustParse(t, "&\r\n(a=b\vc\rd)\f\r\n(d=e)\r\n")))
}

func TestDelimitersMayBeAnyCharacter(t *testing.T) {
	require.Equal(t, `&("a" = "xéy" "z" )`, Print(mustParse(t, "&(a=^éxééyéz)")))
}

func TestInvalidUTF8Stays(t *testing.T) {
	require.Equal(t, "&(\"\xff\" = \"\xfe\" \"\xc3\" )", Print(mustParse(t, "&(\xff=\xfe '\xc3')")))
}

func TestLargeTextsAreRefused(t *testing.T) {
	long := "&(a=" + strings.Repeat("x", MaxSize-5) + ")"
	require.Len(t, long, MaxSize)
	mustParse(t, long)
	_, err := Parse(long + " ")
	require.EqualError(t, err, "the request has more than 1048576 bytes")
	require.Equal(t, "job.rsl: the request has more than 1048576 bytes", err.(Problems)[0].Excerpt("job.rsl", long))
}

func TestDeepTextsAreRefused(t *testing.T) {
	for name, at := range map[string]func(depth int) string{
		"groups":     func(depth int) string { return nested("&(", depth, "a=1") },
		"sequences":  func(depth int) string { return "&(a=" + nested("(", depth-1, "1") + ")" },
		"references": func(depth int) string { return "&(a=" + nested("$(X ", depth-1, "1") + ")" },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := EncodeJSON(mustParse(t, at(MaxDepth)))
			require.NoError(t, err)
			_, err = Parse(at(MaxDepth + 1))
			require.ErrorContains(t, err, "parentheses are nested more than 256 deep")
			require.Len(t, err, 1)
			_, err = Parse(strings.TrimRight(at(MaxSize/8), ")"))
			require.Len(t, err, 1)
		})
	}
	chain := strings.Repeat("a#", maxParts)
	_, err := Parse("&(a=" + chain + "a)")
	require.ErrorContains(t, err, "joined from more than 1000 parts")
	_, err = EncodeJSON(mustParse(t, "&(a="+strings.TrimSuffix(chain, "#")+")"))
	require.NoError(t, err)
}

func nested(opening string, depth int, inner string) string {
	return strings.Repeat(opening, depth) + inner + strings.Repeat(")", depth)
}

func TestNULIsRefused(t *testing.T) {
	_, err := Parse("&(a=1)\n (b='x\x00')")
	require.EqualError(t, err, "line 2, column 7: the request contains a NUL byte")
}

func TestProblemsWithoutAPositionHaveNoExcerpt(t *testing.T) {
	p := &Problem{Message: "no good", Hint: "use another one"}
	require.Equal(t, "no good", p.Error())
	require.Equal(t, "f: no good\nuse another one", p.Excerpt("f", "text"))
	p.Position = Position{Offset: 99, Line: 9, Column: 9}
	require.Equal(t, "f: no good\nuse another one", p.Excerpt("f", "text"), "of another text")
}

func evaluate(t *testing.T, text string, symbols map[string]string) (string, Problems) {
	t.Helper()
	spec, warnings, err := Evaluate(mustParse(t, text), symbols)
	require.NoError(t, err)
	return Print(spec), warnings
}

func TestLaterDefinitionsWinWithAWarning(t *testing.T) {
	text, warnings := evaluate(t, "&(rsl_substitution=(A 1)(A 2))(a=$(A))(rslSubstitution=(A 3))(b=$(A))", nil)
	require.Contains(t, text, `("a" = "2" )`)
	require.Contains(t, text, `("b" = "3" )`)
	require.EqualError(t, warnings, "line 1, column 25: variable \"A\" was defined before: the later value counts\n"+
		"line 1, column 56: variable \"A\" was defined before: the later value counts")
}

func TestOnlyComponentsHaveTheirOwnVariables(t *testing.T) {
	text, warnings := evaluate(t, "&(&(rsl_substitution=(A 1)))(|(rsl_substitution=(B 2)))(a=$(A)$(B))", nil)
	require.Contains(t, text, `("a" = "12" )`)
	require.Empty(t, warnings)

	text, warnings = evaluate(t, "&(rsl_substitution=(A 1))(+(&(rsl_substitution=(A 2))(a=$(A)))(&(a=$(A)))(rsl_substitution=(A 3)))(a=$(A))", nil)
	require.Equal(t, `&("rsl_substitution" = ("A" "1" ) )(+(&("rsl_substitution" = ("A" "2" ) )("a" = "2" ))(&("a" = "1" ))("rsl_substitution" = ("A" "3" ) ))("a" = "1" )`, text)
	require.Empty(t, warnings, "a component may shadow a variable")

	_, warnings = evaluate(t, "&(rsl_substitution=(A 1))(&(rsl_substitution=(A 2)))", nil)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0].Hint, "only components of +")
}

func TestDefinitionsReplaceSymbolsWithoutAWarning(t *testing.T) {
	text, warnings := evaluate(t, "+(&(a=$(HOME))(rsl_substitution=(HOME $(HOME)/x))(b=$(HOME)))(&(c=$(HOME)))", map[string]string{"HOME": "/h"})
	require.Equal(t, `+(&("a" = "/h" )("rsl_substitution" = ("HOME" "/h/x" ) )("b" = "/h/x" ))(&("c" = "/h" ))`, text)
	require.Empty(t, warnings)
}

func TestDefaultsAreUsedForUndefinedVariables(t *testing.T) {
	text, _ := evaluate(t, `&(a=$(A "x y"))(b=$(B $(C z)#t)u)(c=$(D $(E)))`, map[string]string{"A": "1", "D": "4"})
	require.Equal(t, `&("a" = "1" )("b" = "ztu" )("c" = "4" )`, text)
	_, _, err := Evaluate(mustParse(t, `&(a=$(A $(B)))`), nil)
	require.EqualError(t, err, `line 1, column 9: variable "B" is undefined`)
}

func TestEvaluationBoundsItsText(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString("&(rsl_substitution=(V0 xxxxxxxx)")
	for i := range 200 {
		fmt.Fprintf(&doubling, "(V%d $(V%d)$(V%d))", i+1, i, i)
	}
	for _, text := range []string{
		doubling.String() + ")(a=$(V200))",
		"&(rsl_substitution=(V " + strings.Repeat("x", MaxSize/2) + "))(a=" + strings.Repeat("$(V) ", 1000) + ")",
		"&(a=" + strings.Repeat("$(HUGE)#", 900) + "x)",
	} {
		spec := mustParse(t, text)
		_, _, err := Evaluate(spec, map[string]string{"HUGE": strings.Repeat("x", MaxSize)})
		require.ErrorContains(t, err, "the values have more than 16777216 bytes")
		require.Len(t, err, 1)
	}
}

func TestAttributesAreEditedByCanonicalName(t *testing.T) {
	boolean := mustParse(t, "&(Max_Time=1)(&(count=9))(count=2)(maxTime>=3)").(*Boolean)
	require.Equal(t, Literals("1")[0].(*Literal).Text, boolean.Relation("MAXTIME").Values[0].(*Literal).Text)
	require.Nil(t, boolean.Relation("queue"))
	original := Clone(boolean)
	changed := Clone(original).(*Boolean)
	changed.Relation("count").Values[0].(*Literal).Text = "7"

	boolean.Set("max_time", Literals("5", "6")...)
	boolean.Set("queue", Literals("fast")...)
	require.True(t, boolean.Remove("COUNT"))
	require.False(t, boolean.Remove("count"))
	require.Equal(t, `&("Max_Time" = "5" "6" )(&("count" = "9" ))("queue" = "fast" )`, Print(boolean))
	require.Equal(t, `&("Max_Time" = "1" )(&("count" = "9" ))("count" = "2" )("maxTime" >= "3" )`, Print(original))

	request := &Boolean{Operator: Multi}
	request.Append(boolean, original)
	Canonicalize(request)
	require.Contains(t, Print(request), `+(&("maxtime" = "5" "6" )`)
	require.Contains(t, Print(request), `("count" = "2" )("maxtime" >= "3" ))`)
}

func TestLongTextIsCutInMessages(t *testing.T) {
	_, err := Parse("&(a" + strings.Repeat("é", 100) + ")")
	require.ErrorContains(t, err, `attribute "a`+strings.Repeat("é", 29)+`"… must be followed`)
}

func TestExcerptsEndBeforeTheCarriageReturn(t *testing.T) {
	text := "&(a\r\n=1)(b=\x1b=)\r\n"
	_, err := Parse(text)
	p := err.(Problems)[0]
	require.Equal(t, "f:2:8: "+p.Message+"\n    2 | =1)(b=?=)\n      |        ^\n        "+p.Hint, p.Excerpt("f", text))
}

func TestPrintValuePrintsOneValue(t *testing.T) {
	relation := mustParse(t, "x=(a $(B c)#d)").(*Relation)
	require.Equal(t, `("a" $("B" "c") # "d" )`, PrintValue(relation.Values[0]))
}
