package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
)

// writeUsual writes what is usual of outputs beside their definitions, and tells
// where. It leaves out what is shipped: there it is built in.
func (a *app) writeUsual(flags testFlags, usuals *cases.Usuals) error {
	all := usuals.All()
	definitions := make([]*config.Definition, 0, len(all))
	for definition := range all {
		definitions = append(definitions, definition)
	}
	slices.SortFunc(definitions, func(x, y *config.Definition) int { return cmp.Compare(x.File, y.File) })
	for _, definition := range definitions {
		if control.IsShipped(definition) {
			continue
		}
		if err := control.WriteUsual(definition, all[definition]); err != nil {
			return err
		}
		if a.json {
			continue
		}
		if err := a.printRemarks(flags, fmt.Sprintf("wrote %s\n", oneLine(control.UsualFile(definition)))); err != nil {
			return err
		}
	}
	return nil
}
