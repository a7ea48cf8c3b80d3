package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/tree"
)

func (l *loader) validator(e *tree.Element) *attribute.Validator {
	v := &attribute.Validator{Message: e.ChildText("error-message").Text}
	e.Core(func(child *tree.Element) {
		switch child.Name {
		case "regex":
			x := l.expression(child)
			v.Regex, v.Split = &attribute.Pattern{Text: x.Text, Flags: x.Flags}, x.Split
		case "file-info":
			v.File = fileInfo(child)
		case "range":
			v.Ranges = append(v.Ranges, attribute.Range{
				LessThan:       l.bound(child, "lessThan"),
				LessOrEqual:    l.bound(child, "lessThanOrEqualTo"),
				GreaterThan:    l.bound(child, "greaterThan"),
				GreaterOrEqual: l.bound(child, "greaterThanOrEqualTo"),
			})
		}
	})
	return v
}

func (l *loader) bound(e *tree.Element, name string) *float64 {
	text := e.Optional(name)
	if !text.Set {
		return nil
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text.Text), 64)
	if err != nil {
		l.report(e.ValuePosition(name), Error, "invalid-value", strconv.Quote(text.Text)+" is not a number", "")
		return nil
	}
	return &number
}

// fileInfo reads what a file must be. A date that cannot be read is ignored,
// as in the reference.
func fileInfo(e *tree.Element) *attribute.FileInfo {
	info := &attribute.FileInfo{IsDirectory: e.Boolean("isDirectory", false)}
	if date, err := time.ParseInLocation(tree.FileDateLayout, e.Value("lastModifiedAfter"), time.Local); err == nil {
		info.LastModifiedAfter = date
	}
	if date, err := time.ParseInLocation(tree.FileDateLayout, e.Value("lastModifiedBefore"), time.Local); err == nil {
		info.LastModifiedBefore = date
	}
	if length, err := strconv.ParseInt(strings.TrimSpace(e.Value("length")), 10, 64); err == nil {
		info.Length = &length
	}
	for bit := range strings.SplitSeq(e.Value("efsAttributes"), "|") {
		info.Permissions |= tree.PermissionBits[strings.TrimPrefix(strings.TrimSpace(bit), tree.FileAttributePrefix)]
	}
	return info
}
