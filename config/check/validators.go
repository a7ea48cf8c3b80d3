package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/internal/xmltree"
)

func (c *checker) checkValidator(validator *xmltree.Element) {
	message, hasMessage := validator.First("error-message")
	rules := validator.Named("regex", "file-info", "range")
	if len(rules) == 0 {
		c.report(validator.Position(), config.Warning, "validator-without-rule", "the validator accepts every value", "give it a regex, a range or a file-info")
		return
	}
	if !hasMessage || strings.TrimSpace(message.Text) == "" {
		c.report(validator.Position(), config.Warning, "validator-without-message",
			"the validator has no error-message: users see the rule instead, and PTP stores the refused value",
			"add an <error-message> that describes valid values")
	}
	for _, rule := range rules {
		switch rule.Name {
		case "range":
			c.checkRange(rule)
		case "file-info":
			c.checkFileInfo(rule)
		}
	}
}

// checkRange reports a range without numbers. Invalid bounds are reported when they
// are read.
func (c *checker) checkRange(e *xmltree.Element) {
	r := attribute.Range{
		LessThan: number(e, "lessThan"), LessOrEqual: number(e, "lessThanOrEqualTo"),
		GreaterThan: number(e, "greaterThan"), GreaterOrEqual: number(e, "greaterThanOrEqualTo"),
	}
	upper, strictlyBelow := r.LessOrEqual, r.LessThan != nil
	if strictlyBelow {
		upper = r.LessThan
	}
	lower, strictlyAbove := r.GreaterOrEqual, r.GreaterThan != nil
	if strictlyAbove {
		lower = r.GreaterThan
	}
	switch {
	case upper == nil && lower == nil:
		if len(e.Attributes) == 0 {
			c.report(e.Position(), config.Warning, "validator-without-rule", "the range has no bounds: it accepts every number", "")
		}
	case upper != nil && lower != nil && (*lower > *upper || *lower == *upper && (strictlyBelow || strictlyAbove)):
		c.report(e.Position(), config.Warning, "empty-range", "no number lies within the bounds", "")
	}
}

func number(e *xmltree.Element, name string) *float64 {
	number, err := strconv.ParseFloat(strings.TrimSpace(e.Value(name)), 64)
	if err != nil {
		return nil
	}
	return &number
}

// checkFileInfo reports invalid values, which the check of a file ignores.
func (c *checker) checkFileInfo(e *xmltree.Element) {
	for _, name := range []string{"lastModifiedAfter", "lastModifiedBefore"} {
		if date := e.Value(name); date != "" {
			if _, err := time.Parse(xmltree.FileDateLayout, date); err != nil {
				c.report(e.ValuePosition(name), config.Warning, "invalid-value", fmt.Sprintf("invalid date %s is ignored", wording.Quote(date)), "write a date as 2024/12/31 23:59:59")
			}
		}
	}
	offset := 0
	for bit := range strings.SplitSeq(e.Value("efsAttributes"), "|") {
		name := strings.TrimSpace(bit)
		if name != "" && !slices.Contains(fileAttributes(), xmltree.FileAttributePrefix+strings.TrimPrefix(name, xmltree.FileAttributePrefix)) {
			c.reportName(e.ValueWithin("efsAttributes", offset+strings.Index(bit, name)), config.Warning, "invalid-value",
				fmt.Sprintf("unknown file attribute %s is ignored", wording.Quote(name)), name, fileAttributes())
		}
		offset += len(bit) + len("|")
	}
}

func fileAttributes() []string {
	names := []string{"READ_ONLY", "IMMUTABLE", "ARCHIVE", "HIDDEN", "SYMLINK", "LINK_TARGET"}
	names = slices.AppendSeq(names, maps.Keys(xmltree.PermissionBits))
	for i, name := range names {
		names[i] = xmltree.FileAttributePrefix + name
	}
	return names
}
