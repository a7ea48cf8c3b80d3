package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/describe"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/rms"
)

// completeSubmissions completes the values of the flags of submissions.
func (a *app) completeSubmissions(c *cobra.Command) {
	completeFlag(c, "set", a.completeValues)
	completeFlag(c, "queue", a.completeQueues)
	completeFlag(c, "tab", a.completeTabs)
	completeFlag(c, "directory", completeDirectories)
}

func completeFlag(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		cobra.CompError(err.Error()) // the flag does not exist, or is completed already
	}
}

// completeTargets offers the names of targets.
func (a *app) completeTargets(_ *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	targets, err := a.client().Targets()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return targets.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completeLaunchConfigurations offers the names of saved submissions.
func (a *app) completeLaunchConfigurations(_ *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, err := a.launchConfigurationNames()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeValues offers the attributes that can be set, and after "name=" the values of one
// with a choice.
func (a *app) completeValues(c *cobra.Command, arguments []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	definition := a.completionDefinition(c, arguments)
	if definition == nil {
		return nil, cobra.ShellCompDirectiveError
	}
	name, _, hasValue := strings.Cut(typed, "=")
	var offered []cobra.Completion
	for _, known := range definition.Attributes {
		if !known.Visible() || known.ReadOnly() {
			continue
		}
		if !hasValue {
			offered = append(offered, cobra.CompletionWithDesc(known.Name()+"=", oneLine(known.Text(attribute.FieldDescription))))
		} else if known.Name() == name {
			for _, value := range a.offeredValues(c, definition, known) {
				offered = append(offered, name+"="+oneLine(value))
			}
		}
	}
	for _, portable := range portablename.Names() {
		own := definition.Attribute(portable.Name)
		if !hasValue && len(definition.PortableLinks(portable.Name)) > 0 && (own == nil || !own.Visible()) {
			offered = append(offered, cobra.CompletionWithDesc(portable.Name+"=", portable.Meaning))
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeQueues offers the values of the attribute that the queue is linked to.
func (a *app) completeQueues(c *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	definition := a.completionDefinition(c, arguments)
	if definition == nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offered []cobra.Completion
	for _, link := range definition.PortableLinks("queue") {
		if known := definition.Attribute(link.Attribute); known != nil {
			offered = append(offered, a.offeredValues(c, definition, known)...)
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// offeredValues returns the values to offer for an attribute: its choice, or what the last
// session of a target on this machine found. It does not query a scheduler.
func (a *app) offeredValues(c *cobra.Command, definition *config.Definition, known *config.Attribute) []string {
	if choice := known.Text(attribute.FieldChoice); choice != "" {
		var values []string
		for value := range strings.SplitSeq(choice, ",") {
			values = append(values, strings.TrimSpace(value))
		}
		return values
	}
	if known.Text(attribute.FieldType) == "boolean" {
		return []string{"true", "false"}
	}
	from := known.Text(attribute.FieldItemsFrom)
	if from == "" && known.Name() == describe.QueueAttribute(definition) {
		from = "queues"
	}
	targets, err := a.client().Targets()
	if err != nil || from == "" {
		return nil
	}
	target, err := targets.Find(a.completionTarget(c))
	if err != nil || target.Transport != settings.TransportLocal && target.Agent == nil {
		return nil
	}
	controller, err := a.controller(c.Context(), target.Name)
	if err != nil {
		return nil
	}
	values, err := controller.Remembered(c.Context(), from)
	if err != nil {
		return nil
	}
	return values
}

// completeTabs offers the titles of the tabs of the form.
func (a *app) completeTabs(c *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	definition := a.completionDefinition(c, arguments)
	if definition == nil || definition.LaunchTab == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var titles []cobra.Completion
	for _, tab := range definition.LaunchTab.Tabs {
		titles = append(titles, oneLine(tab.Title))
	}
	if script := definition.LaunchTab.Import; script != nil {
		titles = append(titles, oneLine(script.Title))
	}
	return titles, cobra.ShellCompDirectiveNoFileComp
}

// completeDefinitions offers the names of targets and shipped definitions; shells add files.
func (a *app) completeDefinitions(_ *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	targets, err := a.client().Targets()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	offered := append(targets.Names(), rms.Names()...)
	slices.Sort(offered)
	offered = slices.DeleteFunc(slices.Compact(offered), func(name string) bool { return slices.Contains(arguments, name) })
	return offered, cobra.ShellCompDirectiveDefault
}

// completeFirst completes only the first argument; for others shells do as the directive says.
func completeFirst(complete cobra.CompletionFunc, others cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(c *cobra.Command, arguments []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(arguments) > 0 {
			return nil, others
		}
		return complete(c, arguments, typed)
	}
}

// completeOneDefinition is completeDefinitions for the first argument.
func (a *app) completeOneDefinition() cobra.CompletionFunc {
	return completeFirst(a.completeDefinitions, cobra.ShellCompDirectiveDefault)
}

// completeActions offers the commands of the definition that run by name.
func (a *app) completeActions(c *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	definition := a.completionDefinition(c, nil)
	if definition == nil || len(arguments) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offered []cobra.Completion
	for _, element := range []config.CommandElement{config.ButtonAction, config.StartUpCommand, config.ShutDownCommand} {
		for _, named := range definition.CommandsOf(element) {
			offered = append(offered, cobra.CompletionWithDesc(oneLine(named.Name), string(element)))
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// completeCommands offers the commands of a definition whose output can be replayed.
func completeCommands(_ *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(arguments) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	definition, _, err := check.UsableDefinition(arguments[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offered []cobra.Completion
	for _, known := range definition.Commands {
		name := string(known.Element)
		if len(definition.CommandsOf(known.Element)) > 1 {
			name += ":" + oneLine(known.Name)
		}
		offered = append(offered, cobra.CompletionWithDesc(name, oneLine(known.Name)))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// completeDirectories lets shells offer only directories.
func completeDirectories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeForms offers the names of targets; shells add files.
func (a *app) completeForms(_ *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	targets, err := a.client().Targets()
	if err != nil || len(arguments) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return targets.Names(), cobra.ShellCompDirectiveDefault
}

// completionTarget returns the target of the flags so far, empty for the default one.
func (a *app) completionTarget(c *cobra.Command) string {
	name, err := c.Flags().GetString("config-name")
	if err != nil || name == "" || a.target != "" {
		return a.target
	}
	l, err := a.loadLaunchConfiguration(name)
	if err != nil {
		return ""
	}
	target, err := a.targetOf(l)
	if err != nil {
		return ""
	}
	return target
}

// completionDefinition returns the definition of the target, or for render that of its
// arguments. It returns nil without a definition.
func (a *app) completionDefinition(c *cobra.Command, arguments []string) *config.Definition {
	name := a.completionTarget(c)
	isRender := c.Name() == "render" && len(arguments) > 0
	if isRender {
		name = arguments[0]
	}
	targets, err := a.client().Targets()
	if err != nil {
		return nil
	}
	nameOrFile := name
	if target, err := targets.Find(name); err == nil && target.Agent != nil {
		return a.knownDefinition(c.Context(), target)
	} else if err == nil && !isRender {
		nameOrFile = target.Definition
	}
	definition, _, err := check.UsableDefinition(nameOrFile)
	if nameOrFile == "" || err != nil {
		return nil
	}
	return definition
}

// completionPatience is how long a completion may take.
const completionPatience = time.Second

// knownDefinition returns the definition of a target with an agent if the background process has a
// session with it, otherwise nil: nobody waits for an agent to start.
func (a *app) knownDefinition(ctx context.Context, target settings.Target) *config.Definition {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	background, err := a.findBackground()
	if err != nil {
		return nil
	}
	connections, err := background.Connections(ctx)
	if err != nil || !slices.ContainsFunc(connections, func(connection daemon.ConnectionInfo) bool {
		return !connection.Connecting && slices.Contains(a.targetsOf(connection), target.Name)
	}) {
		return nil
	}
	connection, err := background.Connect(ctx, placeOf(target), nil)
	if err != nil {
		return nil
	}
	defer func() { _ = connection.Close() }()
	definition, err := bridge.KnownDefinition(ctx, connection, target.Name)
	if err != nil {
		return nil
	}
	return definition
}

// mostCompletedJobs bounds the jobs that are offered, the newest ones.
const mostCompletedJobs = 100

// Which jobs a command offers.
func anyJob(job.Job) bool            { return true }
func openJob(job job.Job) bool       { return !job.Detail.Ended() }
func doubtfulJob(job job.Job) bool   { return job.ID == "" }
func parallelJob(job job.Job) bool   { return job.Interactive }
func attachableJob(job job.Job) bool { return job.Interactive && openJob(job) }

// completeOneJob is completeJobs for the first argument.
func (a *app) completeOneJob(matches func(job.Job) bool) cobra.CompletionFunc {
	return completeFirst(a.completeJobs(matches), cobra.ShellCompDirectiveNoFileComp)
}

// completeJobs offers the jobs on record that match and are not among the arguments. It does
// not query a scheduler.
func (a *app) completeJobs(matches func(job.Job) bool) cobra.CompletionFunc {
	return func(c *cobra.Command, arguments []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		store, err := a.client().Store(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		jobs, err := store.List(c.Context(), jobstore.Filter{Target: a.target, All: true, Limit: mostCompletedJobs})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var offered []cobra.Completion
		for _, j := range jobs {
			if j.Phase == job.PhaseRejected || !matches(j) {
				continue
			}
			name, err := a.shortestName(c.Context(), store, j, typed)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			if !slices.Contains(arguments, name) {
				offered = append(offered, cobra.CompletionWithDesc(name, oneLine(j.Target+" "+j.Detail.Word()+" "+j.Name)))
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// shortestName returns the name of a job: its id if no other target has the same id and no
// target was typed, otherwise TARGET/ID; without an id, its tag.
func (a *app) shortestName(ctx context.Context, store *jobstore.Store, known job.Job, typed string) (string, error) {
	if known.ID == "" {
		return known.Tag, nil
	}
	named := known.Target + "/" + known.ID
	if strings.HasPrefix(typed, known.Target+"/") {
		return named, nil
	}
	others, err := store.FindBrief(ctx, known.ID, a.target)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(others, func(other job.Job) bool { return other.Target != known.Target }) {
		return named, nil
	}
	return known.ID, nil
}

// completeStates offers the words for states.
func completeStates(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return selection.Words(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
