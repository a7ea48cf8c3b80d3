package xmltree

import "strings"

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;")

// Escape writes a text so that it can stand in an element or in the value of an
// attribute, and is read as it was.
func Escape(text string) string { return escapes.Replace(text) }

// CommentText returns a text on one line that does not end the comment that it stands in.
func CommentText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for strings.Contains(text, "--") {
		text = strings.ReplaceAll(text, "--", "- -")
	}
	return strings.TrimSuffix(text, "-")
}
