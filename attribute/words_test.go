package attribute_test

import (
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/stretchr/testify/require"
)

func TestArgumentsAreSplitByTheQuotingRules(t *testing.T) {
	for text, words := range map[string][]string{
		`-np 4`:                 {"-np", "4"},
		`'a b' c\ d`:            {"a b", "c d"},
		`"a \"q\" \n"`:          {`a "q" \n`},
		`A="b c"d`:              {"A=b cd"},
		"x\\\ny":                {"xy"},
		`/x/exe "`:              {"/x/exe"},
		`""`:                    {""},
		`'' a`:                  {"", "a"},
		` `:                     nil,
		"":                      nil,
		"a\tb\nc\rd\fe\vf":      {"a", "b", "c", "d", "e", "f"},
		`'a"b' "c'd"`:           {`a"b`, `c'd`},
		`'no \' end'`:           {`no \`, "end"},
		`"open end`:             {"open end"},
		`back\\slash`:           {`back\slash`},
		`trailing\`:             {"trailing"},
		`\"q\"`:                 {`"q"`},
		"caf\u00e9 \u00a0x":     {"caf\u00e9", "\u00a0x"},
		"$HOME `id` $(id) a;b|": {"$HOME", "`id`", "$(id)", "a;b|"},
	} {
		require.Equal(t, words, attribute.Words(text), "%q", text)
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{`a "b c" 'd' e\ f`, "\"", `\`, "a\\\n", `"\"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := attribute.Words(text)
		total := 0
		for _, word := range words {
			total += len(word)
		}
		require.LessOrEqual(t, total, len(text))

		// Single quotes keep everything, so words quoted that way come back.
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
		}
		again := attribute.Words(strings.Join(quoted, " "))
		require.Equal(t, words, again)
	})
}
