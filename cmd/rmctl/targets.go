package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/describe"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
)

func newTargets(a *app) *cobra.Command {
	definitions := false
	choices := &listings.Choices{}
	c := &cobra.Command{
		Use:   "targets",
		Short: "List the targets",
		Long: `List the targets, and mark the default: each shipped definition on this machine, the
targets of your targets.toml, and those of ` + settings.SiteFolder + "/" + settings.TargetsFile + ` for all users.

If there is a file for all users, the columns FROM, INTERVAL and LOCKED show the file, how
often rmctl may list jobs, and the settings that you cannot change.`,
		Example: `  rmctl targets
  rmctl targets --json
  rmctl targets --definitions
  rmctl targets add big --definition slurm --host login.example.org --use`,
		RunE: func(_ *cobra.Command, _ []string) error {
			if definitions {
				return a.printShippedDefinitions()
			}
			targets, err := a.client().Targets()
			if err != nil {
				return err
			}
			output, err := a.chosen(choices)
			if err != nil {
				return err
			}
			return listings.Targets(settings.HaveSite(targets)).PrintAll(output, targets.Documents(), "")
		},
	}
	addListing(c, choices)
	c.Flags().BoolVar(&definitions, "definitions", false, "list the shipped definitions with the schedulers that they were tested with")
	c.AddCommand(newTargetsAdd(a), newTargetsSet(a), newTargetsUse(a), newTargetsRemove(a), newTargetsShow(a))
	return c
}

func newTargetsAdd(a *app) *cobra.Command {
	var given settings.Target
	var values, variables []string
	var use, force bool
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a target to targets.toml",
		Long: `Add a target to your targets.toml. The definition must be valid, and accept the values
of -s. --definition defaults to NAME.`,
		Example: `  rmctl targets add big --definition slurm --host login.example.org --use
  rmctl targets add mysite --definition ./mysite.xml -s queue=debug -e SITE_CONF=/etc/site.conf
  rmctl targets add pe --agent /opt/ptp/bin/ptp_ibmpe_proxy --host login.example.org`,
		Args: exactly(1, "NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			given.Name = arguments[0]
			if err := a.completeTarget(&given, values, variables); err != nil {
				return err
			}
			folders, err := a.folders()
			if err != nil {
				return err
			}
			save := settings.AddTargets
			if force {
				save = settings.SaveTargets
			}
			err = save(c.Context(), folders, given)
			if isA[*settings.TargetExistsError](err) {
				return usage("%w\nuse --force to replace it", err)
			}
			if err != nil || !use {
				return err
			}
			return settings.UseTarget(c.Context(), folders, given.Name)
		},
	}
	flags := c.Flags()
	flags.StringVar(&given.Definition, "definition", "", "shipped `DEFINITION`, or the path of one (default: NAME)")
	flags.Var(&given.Agent, "agent", "proxy agent instead of a definition: rmctl, or a `COMMAND`")
	flags.StringVar(&given.Proxy, "proxy", "", "connection to the agent: stdio or `tcp` (default: stdio)")
	flags.StringVar(&given.Host, "host", "", "`HOST` as in ssh_config")
	flags.StringVar(&given.Transport, "transport", "", "`TRANSPORT`: ssh, openssh or local (default: ssh with --host, otherwise local)")
	flags.StringVar(&given.SSHConfig, "ssh-config", "", "`FILE` to read instead of ssh_config")
	flags.StringArrayVarP(&values, "set", "s", nil, "preset attribute of submissions, as `name=value`; repeatable")
	flags.StringArrayVarP(&variables, "env", "e", nil, "environment variable of all commands of the target, as `NAME=VALUE`; repeatable")
	addNodeSettings(c, &given)
	flags.BoolVar(&use, "use", false, "make it the default target")
	flags.BoolVar(&force, "force", false, "replace an existing target")
	completeFlag(c, "definition", a.completeDefinitions)
	completeFlag(c, "proxy", cobra.FixedCompletions([]cobra.Completion{settings.ProxyStdio, settings.ProxyTCP}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(c, "transport", cobra.FixedCompletions([]cobra.Completion{settings.TransportLocal, settings.TransportSSH, settings.TransportOpenSSH}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// addNodeSettings adds the flags for the settings of a target that concern nodes.
func addNodeSettings(c *cobra.Command, given *settings.Target) {
	c.Flags().StringVar(&given.NodeDirectory, "node-directory", "", "`DIR` for rmctl-node on the target, shared with its nodes")
	c.Flags().StringVar(&given.RelayAddress, "relay-address", "", "`HOST[:PORT]` of the target for its nodes")
	completeFlag(c, "node-directory", cobra.NoFileCompletions)
	completeFlag(c, "relay-address", cobra.NoFileCompletions)
}

func newTargetsSet(a *app) *cobra.Command {
	var given settings.Target
	c := &cobra.Command{
		Use:   "set NAME",
		Short: "Change settings of a target",
		Long:  `Change settings of a target in your targets.toml. An empty value removes a setting.`,
		Example: `  rmctl targets set big --relay-address login1
  rmctl targets set big --node-directory /scratch/ada/rmctl`,
		Args:              exactly(1, "NAME"),
		ValidArgsFunction: completeFirst(a.completeTargets, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, arguments []string) error {
			changed := c.Flags().Changed
			if !changed("node-directory") && !changed("relay-address") {
				return usage("nothing to change\nadd --node-directory or --relay-address")
			}
			folders, err := a.folders()
			if err != nil {
				return err
			}
			targets, err := a.client().Targets()
			if err != nil {
				return err
			}
			target, err := targets.Find(arguments[0])
			if err != nil {
				return err
			}
			if changed("node-directory") {
				target.NodeDirectory = given.NodeDirectory
			}
			if changed("relay-address") {
				target.RelayAddress = given.RelayAddress
			}
			return settings.SaveTargets(c.Context(), folders, target)
		},
	}
	addNodeSettings(c, &given)
	return c
}

// completeTarget adds to a target what its flags leave out, and checks its definition with
// its values.
func (a *app) completeTarget(t *settings.Target, values, variables []string) error {
	s, err := (&submissionFlags{values: values, environment: variables}).submission(nil)
	if err != nil {
		return err
	}
	if t.Agent == nil {
		if t.Definition == "" && !slices.Contains(rms.Names(), t.Name) {
			return usage("unknown definition %q\nuse --definition to name one", t.Name)
		}
		t.Definition = cmp.Or(t.Definition, t.Name)
	}
	if t.Transport == "" && t.Host != "" {
		t.Transport = settings.TransportSSH
	}
	for _, file := range []*string{&t.Definition, &t.SSHConfig} {
		if *file == "" || file == &t.Definition && !rms.NamesFile(*file) {
			continue
		}
		if *file, err = filepath.Abs(*file); err != nil {
			return fmt.Errorf("finding the working directory: %w", err)
		}
	}
	t.Attributes, t.Environment = map[string]string{}, map[string]string{}
	for _, value := range s.Values {
		t.Attributes[value.Name] = value.Value
	}
	for _, variable := range s.Environment.Variables {
		t.Environment[variable.Name] = variable.Value
	}
	if t.Agent != nil {
		return nil // its values are known when a session begins
	}
	return a.checkValues(t.Definition, s.Values)
}

// checkValues checks the values of a target with its definition.
func (a *app) checkValues(nameOrFile string, values []job.Assignment) error {
	definition, err := a.definition(nameOrFile)
	if err != nil {
		return err
	}
	here, err := remote.NewLocal()
	if err != nil {
		return err
	}
	return control.New(control.Options{Definition: definition, Connection: here}).Check(job.Submission{Values: values, Invisible: true})
}

func newTargetsUse(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Make a target the default",
		Long:              "Make a target the default of commands without -t, in your targets.toml.",
		Example:           "  rmctl targets use slurm",
		Args:              exactly(1, "NAME"),
		ValidArgsFunction: a.completeTargets,
		RunE: func(c *cobra.Command, arguments []string) error {
			folders, err := a.folders()
			if err != nil {
				return err
			}
			return settings.UseTarget(c.Context(), folders, arguments[0])
		},
	}
}

func newTargetsRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME...",
		Short:             "Remove targets from targets.toml",
		Long:              "Remove targets from your targets.toml. Their jobs keep running, and stay on record.",
		Example:           "  rmctl targets rm big",
		Args:              atLeast(1, "NAME"),
		ValidArgsFunction: a.completeTargets,
		RunE: func(c *cobra.Command, arguments []string) error {
			folders, err := a.folders()
			if err != nil {
				return err
			}
			var failures []error
			for _, name := range arguments {
				err := settings.RemoveTarget(c.Context(), folders, name)
				if isA[*settings.UnknownTargetError](err) {
					err = usage("target %q is not in %s", name, filepath.Join(folders.User, settings.TargetsFile))
				}
				failures = append(failures, err)
			}
			return errors.Join(failures...)
		},
	}
}

func newTargetsShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show [NAME]",
		Short:             "Show all settings of a target",
		Long:              "Show all settings of a target, by default of the default target, merged from all files.",
		Example:           "  rmctl targets show big\n  rmctl targets show --json",
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, arguments []string) error {
			if len(arguments) > 1 {
				return usage("unexpected argument %q", arguments[1])
			}
			targets, err := a.client().Targets()
			if err != nil {
				return err
			}
			target, err := targets.Find(cmp.Or(append(arguments, a.target)...))
			if err != nil {
				return err
			}
			return a.printTarget(targets, target)
		},
	}
}

// targetJSON is how a target with all its settings is printed as JSON; the names are a contract.
type targetJSON struct {
	settings.TargetDocument
	SSHConfig   string            `json:"sshConfig,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
}

func (a *app) printTarget(targets *settings.Targets, target settings.Target) error {
	shown := targets.Documents()[slices.Index(targets.Names(), target.Name)]
	if a.json {
		return terminal.JSON(a.stdout, targetJSON{shown, target.SSHConfig, target.Attributes, target.Environment})
	}
	target.Interval, target.ShareAnswers = shown.Interval, shown.ShareAnswers
	text, err := settings.TextOfTarget(target)
	if err != nil {
		return err
	}
	var about strings.Builder
	if shown.Default {
		about.WriteString("# default target\n")
	}
	fmt.Fprintf(&about, "# from: %s\n", shown.Origins())
	if len(shown.Locked) > 0 {
		fmt.Fprintf(&about, "# locked: %s\n", strings.Join(shown.Locked, ", "))
	}
	_, err = fmt.Fprint(a.stdout, printable(about.String()+text))
	return err
}

// shippedJSON is how a shipped definition is printed as JSON; the names are a contract.
type shippedJSON struct {
	Name          string           `json:"name"`
	Mode          string           `json:"mode"` // batch, interactive or none
	SchedulerType string           `json:"schedulerType,omitempty"`
	Proven        []describe.Proof `json:"proven"`
}

func (a *app) printShippedDefinitions() error {
	var rows [][]string
	for _, name := range rms.Names() {
		definition, _, err := check.UsableDefinition(name)
		if err != nil {
			return err
		}
		described := describe.Of(definition)
		shown := shippedJSON{name, described.Mode, described.SchedulerType, described.Proven}
		if a.json {
			if err := terminal.JSON(a.stdout, shown); err != nil {
				return err
			}
			continue
		}
		first := []string{name, shown.Mode}
		for _, proof := range shown.Proven {
			rows = append(rows, append(first, proof.By, oneLine(proof.Of)))
			first = []string{"", ""}
		}
		if len(shown.Proven) == 0 {
			rows = append(rows, append(first, "nothing", ""))
		}
	}
	if a.json {
		return nil
	}
	return terminal.Table(a.stdout, []string{"DEFINITION", "JOBS", "PROVEN BY", "OF"}, rows)
}

func newPolls(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "polls",
		Short: "Show how often rmctl queries schedulers",
		Long: `Show how often rmctl queries schedulers, and how long each query takes. All processes of
rmctl share the queries of a connection and definition.`,
		Example: `  rmctl polls
  rmctl polls -t slurm --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := a.client().Store(c.Context())
			if err != nil {
				return err
			}
			if err := a.finder().KnowsTarget(c.Context(), store); err != nil {
				return err
			}
			now := time.Now()
			all, err := store.Polls().All(c.Context(), now)
			if err != nil {
				return err
			}
			all = slices.DeleteFunc(all, func(poll polls.PollCount) bool {
				return len(poll.Targets) == 0 || a.target != "" && !slices.Contains(listings.PollTargets(poll), a.target)
			})
			if len(all) == 0 {
				a.sayNone("no queries yet")
			}
			return printAll(a, all, listings.PollDocument, listings.PollColumns(), func(poll polls.PollCount) []string {
				return listings.PollRow(poll, now)
			})
		},
	}
}
