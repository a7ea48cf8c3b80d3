package agenttrace

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/secret"
	"github.com/rmctl/rmctl/proxy"
)

// hidden replaces a value.
const hidden = "(hidden)"

// withoutValues returns a line without the values of variables and of attributes named like secrets.
func withoutValues(line proxy.Line) proxy.Line {
	isCopied := false
	for i, argument := range line.Frame.Arguments {
		shown := withoutValue(argument)
		if shown == argument {
			continue
		}
		if !isCopied {
			line.Frame.Arguments, isCopied = slices.Clone(line.Frame.Arguments), true
		}
		line.Frame.Arguments[i] = shown
	}
	return line
}

func withoutValue(argument string) string {
	name, value, isAttribute := strings.Cut(argument, "=")
	switch {
	case !isAttribute || value == "":
		return argument
	case name == "env":
		variable, content, isAssigned := strings.Cut(value, "=")
		if !isAssigned || content == "" {
			return argument
		}
		return name + "=" + variable + "=" + hidden
	case secret.IsName(name):
		return name + "=" + hidden
	}
	return argument
}
