package check

import (
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
)

// checkQuotes reports a quote of a command line that is not closed. It ignores
// quotes in the values of references.
func (c *checker) checkQuotes(argument argumentText) {
	if at := unclosedQuote(maskedReferences(argument.text)); at >= 0 {
		c.report(argument.at(at), config.Warning, "unclosed-quote", "the quote is not closed: it ends with the argument", `close it, or write \ before a literal quote`)
	}
}

// maskedReferences returns a text with zero bytes for its references.
func maskedReferences(text string) []byte {
	masked := []byte(text)
	for _, r := range reference.Find(text) {
		if r.Prefix == reference.Prefix {
			clear(masked[r.Offset : r.Offset+len(r.Written)])
		}
	}
	return masked
}

// unclosedQuote returns where a quote begins that is not closed, -1 for none. It reads
// quotes as attribute.Words does: between double ones a backslash escapes only these.
func unclosedQuote(text []byte) int {
	begin := -1
	for i := 0; i < len(text); i++ {
		switch character := text[i]; {
		case begin >= 0 && character == text[begin]:
			begin = -1
		case begin >= 0:
			if character == '\\' && text[begin] == '"' && i+1 < len(text) && text[i+1] == '"' {
				i++
			}
		case character == '\\':
			i++
		case isQuote(character):
			begin = i
		}
	}
	return begin
}
