package coalloc

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/settings"
)

// SourcesOf returns the sources of requests whose parts run on the targets of a client. The launch configurations are those
// of a configuration folder.
func SourcesOf(client Client, configFolder string) (Sources, error) {
	targets, err := client.Targets()
	if err != nil {
		return Sources{}, err
	}
	return Sources{
		Targets: targets,
		Launch: func(name string) (*settings.LaunchConfiguration, error) {
			return settings.LoadLaunchConfiguration(configFolder, name)
		},
		Variables: func(ctx context.Context, target string) (map[string]string, error) {
			return variablesOf(ctx, client, target)
		},
	}, nil
}

// variablesOf returns the RSL variables of a target, under the names that GRAM defines.
func variablesOf(ctx context.Context, client Client, target string) (map[string]string, error) {
	controller, err := client.Controller(ctx, target)
	if err != nil {
		return nil, err
	}
	place := controller.Place
	variables := map[string]string{
		"HOME": place.Home, "LOGNAME": place.User, "GLOBUS_ID": place.User, "GLOBUS_GATEKEEPER_HOST": place.Host,
		"GLOBUS_HOST_OSNAME": place.System, "GLOBUS_HOST_CPUTYPE": place.Arch, "GLOBUS_HOST_OSVERSION": place.Version,
	}
	for name, value := range variables {
		if value == "" {
			delete(variables, name)
		}
	}
	return variables, nil
}

// resolveContact returns the target that a contact of RSL means: its name, DEFINITION@HOST, or
// HOST:PORT/SERVICE:SUBJECT. The reason says why there is no such target, which is then the contact itself.
func resolveContact(contact string, targets *settings.Targets) (target, reason string) {
	if targets == nil || contact == "" {
		return contact, ""
	}
	if _, err := targets.Find(contact); err == nil {
		return contact, ""
	}
	definition, host, service := splitContact(contact)
	var found []string
	for _, candidate := range targets.All() {
		if hasContact(candidate, definition, host, service) {
			found = append(found, candidate.Name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], ""
	case len(found) > 1:
		return contact, fmt.Sprintf("resourceManagerContact %.200q means several targets: %s", contact, strings.Join(found, ", "))
	}
	_, err := targets.Find(contact)
	return contact, err.Error()
}

// splitContact splits a contact into host and service.
func splitContact(contact string) (definition, host, service string) {
	if before, after, found := strings.Cut(contact, "@"); found && !strings.ContainsAny(before, ":/") {
		definition, contact = before, after
	}
	host, service, _ = strings.Cut(contact, "/")
	host, _, _ = strings.Cut(host, ":") // port, and a subject without a service
	service, _, _ = strings.Cut(service, ":")
	return definition, host, service
}

// hasContact reports whether a target is one of the host, by the definition or the service of a contact.
func hasContact(target settings.Target, definition, host, service string) bool {
	_, onlyHost, _ := strings.Cut(target.Host, "@")
	if !slices.Contains([]string{target.Name, target.Host, onlyHost}, host) && (target.Host != "" || host != "localhost") || host == "" {
		return false
	}
	own := strings.TrimSuffix(path.Base(target.Definition), ".xml")
	if definition != "" {
		return definition == target.Definition || definition == own
	}
	manager, isManager := strings.CutPrefix(service, "jobmanager-")
	if !isManager {
		return true
	}
	managers := map[string][]string{
		"fork": {"fork", "local"}, "sge": {"gridengine"}, "pbs": {"pbs", "torque"}, "condor": {"htcondor"}, "slurm": {"slurm", "slurm-rest"}, "lsf": {"lsf"}, "loadleveler": {"loadleveler"},
	}
	return own == manager || slices.Contains(managers[manager], own)
}
