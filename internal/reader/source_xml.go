package reader

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/rmctl/rmctl/internal/xpath"
)

// decodeXML reads XML documents. It knows only the five predefined entities and refuses document types,
// so that no text can grow.
func decodeXML(input *feed, records *recordBuilder) error {
	decoder := xml.NewDecoder(limitedFeed{input, records})
	decoder.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, records.damage(records.feed.base, "unsupported encoding "+charset+", use UTF-8")
	}
	depth, hasDocument := 0, false
	for {
		before := decoder.InputOffset()
		token, err := decoder.Token()
		if err == io.EOF {
			return io.EOF
		}
		if err == nil {
			switch token := token.(type) {
			case xml.StartElement:
				depth, hasDocument = depth+1, true
				err = records.open(xpath.FieldName(token.Name.Local), attributesOf(token), before)
			case xml.EndElement:
				depth--
				err = records.close(decoder.InputOffset())
			case xml.CharData:
				records.text(string(token))
				if depth == 0 && hasDocument && strings.TrimSpace(string(token)) != "" {
					err = records.damage(before, "text after the document")
				}
			case xml.Directive:
				err = records.damage(before, "document types are not supported")
			}
		}
		if err != nil {
			return xmlDamage(err, decoder, records)
		}
	}
}

// xmlDamage returns an error of a document as its damage.
func xmlDamage(err error, decoder *xml.Decoder, records *recordBuilder) error {
	var syntax *xml.SyntaxError
	if damage, isDamage := asDamage(err); isDamage {
		return damage
	} else if !errors.As(err, &syntax) {
		return err
	}
	offset := min(decoder.InputOffset(), records.feed.base+int64(len(records.feed.held)))
	if strings.Contains(syntax.Msg, "unexpected EOF") {
		return records.damage(offset, "the document ends early")
	}
	return records.damage(offset, "invalid XML: "+syntax.Msg)
}

func attributesOf(start xml.StartElement) []xpath.Attribute {
	attributes := make([]xpath.Attribute, 0, len(start.Attr))
	for _, each := range start.Attr {
		attributes = append(attributes, xpath.Attribute{Name: each.Name.Local, Value: each.Value})
	}
	return attributes
}

// A limitedFeed is a feed that stops at an element that is too long.
type limitedFeed struct {
	*feed
	records *recordBuilder
}

// Read reads from the feed.
func (l limitedFeed) Read(p []byte) (int, error) {
	if len(l.held) > l.longest {
		return 0, l.records.damage(l.base, "a record is too long")
	}
	return l.feed.Read(p)
}

// legible replaces characters that XML does not allow, so that one job name cannot make a listing
// unreadable.
func legible() transform.Transformer {
	return transform.Chain(runes.ReplaceIllFormed(), runes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}))
}
