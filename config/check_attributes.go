package config

import "fmt"

var attributeCodes = []Code{
	{"duplicate-attribute", Warning, "An attribute is defined twice."},
}

func (c *checker) checkAttributes() {
	known := map[string]Position{}
	for _, a := range c.definition.Attributes {
		if earlier, twice := known[a.Name()]; twice {
			c.report(a.Position, Warning, "duplicate-attribute",
				fmt.Sprintf("attribute %q is defined a second time; the definition at line %d is lost", a.Name(), earlier.Line), "")
		}
		known[a.Name()] = a.Position
	}
}
