package xmltree

// Optional is a text that may be absent; an absent text is not an empty one.
type Optional struct {
	Text string
	Set  bool
}

// An Argument is an optional piece of text in a command line, an input, a line or an environment value.
type Argument struct {
	Position
	Text                 string
	Attribute            Optional
	IsUndefinedIfMatches Optional
	Resolve              bool
	IsWord               bool // x:word: its text is one word of a command line

	// Member makes the text the value of a member of a JSON object, with this name: a text, or
	// with IsBare a number or boolean. Without a text there is no member.
	Member string
	IsBare bool
}

// Arguments returns the children of a name as arguments.
func (e *Element) Arguments(name string) []*Argument {
	var arguments []*Argument
	for _, child := range e.Named(name) {
		arguments = append(arguments, &Argument{
			Position:             child.Position(),
			Text:                 child.Text,
			Attribute:            child.Optional("attribute"),
			IsUndefinedIfMatches: child.Optional("isUndefinedIfMatches", "isUndefIfMatches"),
			Resolve:              child.Boolean("resolve", true),
		})
	}
	return arguments
}
