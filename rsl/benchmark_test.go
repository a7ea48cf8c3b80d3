package rsl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkHugeRequest reads a request of the size of GRAM's largest test: 3,501 definitions in
// 77 kB; each uses the one before it.
func BenchmarkHugeRequest(b *testing.B) {
	var text strings.Builder
	text.WriteString("&(rsl_substitution=(VAR0 x)")
	for i := 1; i <= 3500; i++ {
		fmt.Fprintf(&text, "\n  (VAR%d $(VAR%d))", i, i-1)
	}
	text.WriteString(")(executable=/bin/echo)(arguments=$(VAR3500))")
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		spec, err := Parse(text.String())
		require.NoError(b, err)
		_, _, err = Evaluate(spec, nil)
		require.NoError(b, err)
	}
}

// BenchmarkLinear shows that the time per byte does not grow with the length.
func BenchmarkLinear(b *testing.B) {
	for _, kilobytes := range []int{10, 100, 1000} {
		for name, part := range map[string]string{"groups": "(a=b)", "errors": "(a=)", "values": "(a=$(HOME)/x (b c))", "quotes": `(a="x""y")`, "comments": "(a=b(* ** *))"} {
			text := "&" + strings.Repeat(part, kilobytes*1000/len(part))
			b.Run(fmt.Sprintf("%s/%dkB", name, kilobytes), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if spec, err := Parse(text); err == nil {
						_, _, err = Evaluate(spec, oracleSymbols)
						require.NoError(b, err)
					}
				}
			})
		}
	}
}
