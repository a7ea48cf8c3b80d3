package main

import (
	"strings"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
)

// configuredTarget returns the target of targets.toml that a definition may be
// named by, and false for a path, and for a name that is none of a target there.
func (a *app) configuredTarget(name string) (settings.Target, bool, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".xml") {
		return settings.Target{}, false, nil
	}
	targets, err := a.loadTargets()
	if err != nil {
		return settings.Target{}, false, err
	}
	target, err := targets.Find(name)
	if err != nil || target.Shipped {
		return settings.Target{}, false, nil //nolint:nilerr // no target, so a shipped name or a file
	}
	return target, true, nil
}

// definitionNamed returns the shipped name or the file of a definition that may
// be named by a target, too: -t means the same by a name.
func (a *app) definitionNamed(name string) (string, error) {
	target, isTarget, err := a.configuredTarget(name)
	if err != nil || !isTarget {
		return name, err
	}
	return target.Definition, nil
}

// defaultsOf returns what a target sets for every submission.
func defaultsOf(target settings.Target) []job.Assignment {
	var defaults []job.Assignment
	for name, value := range target.Attributes {
		defaults = append(defaults, job.Assignment{Name: name, Value: value})
	}
	return defaults
}
