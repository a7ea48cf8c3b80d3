package inspect

import (
	"maps"
	"slices"

	"github.com/rmctl/rmctl/config"
)

// WithEnvironment returns a definition with variables for all commands, and for those that
// they need. They override the variables of the definition.
func WithEnvironment(d *config.Definition, variables map[string]string) *config.Definition {
	if len(variables) == 0 {
		return d
	}
	var entries []*config.EnvironmentEntry
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		entries = append(entries, &config.EnvironmentEntry{Name: name, Value: config.Optional{Text: variables[name], Set: true}})
	}
	changed := *d
	changed.Environment = slices.Concat(d.Environment, entries)
	changed.Commands = withEntries(d.Commands, entries)
	changed.Probes = make([]*config.Probe, len(d.Probes))
	for i, probe := range d.Probes {
		own := *probe
		own.Command = withEntry(probe.Command, entries)
		changed.Probes[i] = &own
	}
	return &changed
}

func withEntries(commands []*config.Command, entries []*config.EnvironmentEntry) []*config.Command {
	changed := make([]*config.Command, len(commands))
	for i, each := range commands {
		changed[i] = withEntry(each, entries)
	}
	return changed
}

func withEntry(command *config.Command, entries []*config.EnvironmentEntry) *config.Command {
	changed := *command
	changed.Environment = slices.Concat(command.Environment, entries)
	changed.Fallbacks = withEntries(command.Fallbacks, entries)
	if command.Batch != nil {
		batch := *command.Batch
		batch.Command = withEntry(batch.Command, entries)
		changed.Batch = &batch
	}
	if command.Read != nil {
		read := *command.Read
		read.Joins = make([]*config.Join, len(command.Read.Joins))
		for i, join := range command.Read.Joins {
			own := *join
			own.Command = withEntry(join.Command, entries)
			read.Joins[i] = &own
		}
		changed.Read = &read
	}
	return &changed
}
