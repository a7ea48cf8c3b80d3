package describe

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
)

type argumentDescription struct {
	Text     string `json:"text"`               // as written, references unresolved
	Vanishes string `json:"vanishes,omitempty"` // when the argument is left out
	Literal  bool   `json:"literal,omitempty"`  // references in it are not resolved
}

type variableDescription struct {
	Name      string                `json:"name"`
	Value     string                `json:"value,omitempty"`
	Arguments []argumentDescription `json:"arguments,omitempty"` // joined by blanks, where there is no value
	Preserve  bool                  `json:"preserve,omitempty"`  // keeps that of the connection
}

type commandDescription struct {
	Element     string                `json:"element"`
	Name        string                `json:"name"`
	Program     string                `json:"program"`
	Arguments   []argumentDescription `json:"arguments"` // the program among them
	Needs       []string              `json:"needs,omitempty"`
	Directory   string                `json:"directory,omitempty"`
	Input       []argumentDescription `json:"input,omitempty"`
	InputFile   string                `json:"inputFile,omitempty"`
	Only        string                `json:"only,omitempty"` // the stage of the jobs that it acts on
	Environment []variableDescription `json:"environment,omitempty"`
	Before      []string              `json:"preLaunch,omitempty"`
	After       []string              `json:"postLaunch,omitempty"`
	Properties  []string              `json:"properties,omitempty"` // switches that are set, by their names in the format
	Timeout     string                `json:"timeout,omitempty"`
	On          []string              `json:"on,omitempty"` // of a fallback: the outcomes after which it is tried
	Parsers     []parserDescription   `json:"parsers,omitempty"`
	Marks       []markDescription     `json:"processMarks,omitempty"`
	Processes   string                `json:"processes,omitempty"` // of x:on-nodes: variables of the processes of the job
	Fallbacks   []commandDescription  `json:"fallbacks,omitempty"`
	Position    string                `json:"position"`
}

// A markDescription describes an x:process-mark.
type markDescription struct {
	Text     string `json:"text"`
	Output   bool   `json:"output,omitempty"` // what follows it was printed by the process
	Shown    string `json:"shown,omitempty"`
	Job      bool   `json:"job,omitempty"` // the process is the job
	Position string `json:"position"`
}

func describeCommand(c *config.Command) commandDescription {
	d := commandDescription{
		Element: string(c.Element), Name: c.Name, Arguments: describeArguments(c.Arguments), Needs: c.Attributes(),
		Directory: c.Directory, Input: describeArguments(c.Input), InputFile: c.InputFile, Only: onlyText(c), Processes: c.Processes, Properties: properties(c), Position: c.Position.String(),
		Before: each(c.PreLaunch, executed), After: each(c.PostLaunch, executed), On: each(c.On, func(kind config.OutcomeKind) string { return string(kind) }),
		Parsers: each(c.Parsers(), describeParser), Fallbacks: each(c.Fallbacks, describeCommand),
	}
	for _, argument := range c.Arguments {
		if words := strings.Fields(argument.Text); len(words) > 0 {
			d.Program = words[0]
			break
		}
	}
	for _, entry := range c.Environment {
		d.Environment = append(d.Environment, variableDescription{entry.Name, entry.Value.Text, describeArguments(entry.Arguments), entry.Preserve})
	}
	if c.Timeout > 0 {
		d.Timeout = c.Timeout.String()
	}
	for _, mark := range c.ProcessMarks {
		d.Marks = append(d.Marks, markDescription{mark.Text, mark.Output, mark.Shown, mark.IsJob, mark.Position.String()})
	}
	return d
}

func executed(c *config.SimpleCommand) string { return c.Exec }

func properties(c *config.Command) []string {
	var set []string
	for _, property := range []struct {
		name  string
		isSet bool
	}{
		{"waitForId", c.WaitForID}, {"keepOpen", c.KeepOpen}, {"ignoreExitStatus", c.IgnoreExitStatus},
		{"redirectStderr", c.RedirectStderr}, {"replaceEnvironment", c.ReplaceEnvironment},
		{"ALLOCATE_PTY", c.AllocatePTY}, {"FORWARD_X11", c.ForwardX11},
		{"without-terminal=refuse", c.NeedsTerminal}, {"without-terminal=stderr", c.SpeaksOnErrors},
		{"from-nodes", c.FromNodes},
	} {
		if property.isSet {
			set = append(set, property.name)
		}
	}
	return set
}

func describeArguments(arguments []*config.Argument) []argumentDescription {
	return each(arguments, func(a *config.Argument) argumentDescription {
		return argumentDescription{a.Text, vanishes(a), !a.Resolve}
	})
}

// vanishes says when an argument vanishes; empty for never.
func vanishes(a *config.Argument) string {
	pattern := a.IsUndefinedIfMatches
	switch {
	case a.Attribute.Set && pattern.Set:
		return fmt.Sprintf("if %s has no value or matches %s", a.Attribute.Text, pattern.Text)
	case a.Attribute.Set:
		return fmt.Sprintf("if %s has no value", a.Attribute.Text)
	case pattern.Set:
		return "if it matches " + pattern.Text
	}
	return ""
}

// line joins arguments as in a script or command.
func line(arguments []argumentDescription) string {
	return strings.Join(each(arguments, func(a argumentDescription) string { return a.Text }), " ")
}

type outcomeDescription struct {
	Kind       string `json:"kind"`
	ExitCodes  []int  `json:"exitCodes,omitempty"` // none for any but 0
	Expression string `json:"expression,omitempty"`
	Position   string `json:"position"`
}

func describeOutcome(o *config.Outcome) outcomeDescription {
	d := outcomeDescription{Kind: string(o.Kind), ExitCodes: o.ExitCodes, Position: o.Position.String()}
	if o.Expression != nil {
		d.Expression = o.Expression.Text
	}
	return d
}

type scriptDescription struct {
	Lines                  []lineDescription `json:"lines"`
	InsertEnvironmentAfter int               `json:"insertEnvironmentAfter"` // the index of a line from 0; negative for nowhere
	DeleteAfterSubmit      bool              `json:"deleteAfterSubmit"`
	StagingLocation        string            `json:"fileStagingLocation,omitempty"`
	Needs                  []string          `json:"needs,omitempty"`
	Position               string            `json:"position"`
}

type lineDescription struct {
	Text     string   `json:"text"`
	Vanishes []string `json:"vanishes,omitempty"` // when arguments of it are left out; a line without text is no line
	Position string   `json:"position"`
}

func describeScript(s *config.Script) *scriptDescription {
	if s == nil {
		return nil
	}
	return &scriptDescription{Lines: describeLines(s.Lines), InsertEnvironmentAfter: s.InsertEnvironmentAfter, DeleteAfterSubmit: s.DeleteAfterSubmit,
		StagingLocation: s.StagingLocation.Text, Needs: s.Attributes(), Position: s.Position.String()}
}

func describeLines(lines []*config.Line) []lineDescription {
	var described []lineDescription
	for _, l := range lines {
		arguments := describeArguments(l.Arguments)
		d := lineDescription{Text: line(arguments), Position: l.Position.String()}
		for _, argument := range arguments {
			if argument.Vanishes != "" {
				d.Vanishes = append(d.Vanishes, argument.Vanishes)
			}
		}
		described = append(described, d)
	}
	return described
}

type fileDescription struct {
	Name                 string            `json:"name"`
	Location             string            `json:"location,omitempty"` // where it is put; the staging folder without it
	Lines                []lineDescription `json:"lines,omitempty"`
	Contents             string            `json:"contents,omitempty"`
	Path                 string            `json:"path,omitempty"` // of the file here that is copied
	Mode                 string            `json:"mode,omitempty"`
	UniqueName           bool              `json:"uniqueIdPrefix,omitempty"`
	DeleteTargetAfterUse bool              `json:"deleteTargetAfterUse,omitempty"`
	DeleteSourceAfterUse bool              `json:"deleteSourceAfterUse,omitempty"`
	Position             string            `json:"position"`
}

func describeFiles(groups []*config.ManagedFiles) []fileDescription {
	var described []fileDescription
	for _, group := range groups {
		for _, file := range group.Files {
			described = append(described, fileDescription{
				Name: file.Name, Location: group.StagingLocation.Text, Lines: describeLines(file.Lines), Contents: file.Contents.Text,
				Path: file.Path.Text, Mode: file.Mode, UniqueName: file.UniqueIDPrefix, DeleteTargetAfterUse: file.DeleteTargetAfterUse,
				DeleteSourceAfterUse: file.DeleteSourceAfterUse, Position: file.Position.String(),
			})
		}
	}
	return described
}

// onlyText returns the stages of jobs that a command acts on.
func onlyText(c *config.Command) string {
	stages := make([]string, len(c.Only))
	for i, stage := range c.Only {
		stages[i] = string(stage)
	}
	return strings.Join(stages, " ")
}
