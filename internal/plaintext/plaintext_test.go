package plaintext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/plaintext"
)

func TestCleanTextsAreShortAndPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a b": "a b", " a ": "a", "a\nb\x1b[0m": "a b [0m", "\u202ea": "a", "a\xffb": "a\ufffdb", "äöüäöüäöüäöü": "äöüäöüäöüä", "abcdefghijkl": "abcdefghij", "a\x7f": "a",
	} {
		require.Equal(t, want, plaintext.Clean(text, 10), "%q", text)
	}
}

func TestTheEndOfATextBeginsWithAWholeCharacter(t *testing.T) {
	for _, test := range []struct{ text, end string }{{"", ""}, {"abc", "abc"}, {"abcdef", "cdef"}, {"xéabc", "abc"}, {"é\x80\x80", "é\x80\x80"}, {"\x80\x80\x80\x80", "\x80"}} {
		require.Equal(t, test.end, plaintext.End(test.text, 4), "%q", test.text)
	}
}
