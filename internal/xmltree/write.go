package xmltree

import "strings"

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;")

// Escape escapes a text for an element or an attribute value.
func Escape(text string) string { return escapes.Replace(text) }

// CommentText returns a text on one line that is safe in a comment.
func CommentText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for strings.Contains(text, "--") {
		text = strings.ReplaceAll(text, "--", "- -")
	}
	return strings.TrimSuffix(text, "-")
}
