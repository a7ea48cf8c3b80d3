package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

// Options configure the session of an editor.
type Options struct {
	// Launch starts a program or attaches to one, and returns once its ranks have connected. Its context ends
	// when launching is canceled, or after End. It reports its progress in lines as long as the program exists.
	Launch func(ctx context.Context, arguments LaunchArguments, report func(text string)) (*Launched, error)

	// AllowRaw lets the debug console pass commands to the debuggers. They can run any program.
	AllowRaw bool
}

// A Launched is a program whose ranks are debugged. Nobody else takes the reports of its session.
type Launched struct {
	Session *debug.Session
	Size    int             // ranks that are debugged; 0 if unknown
	Done    <-chan struct{} // closed when the job has ended; nil if nobody knows

	// End ends the job, or lets it run on without debuggers, and closes the connections to its ranks. It is called once.
	End func(ctx context.Context, kill bool) error
}

// LaunchArguments are an editor's configuration of a program.
type LaunchArguments struct {
	IsAttach      bool // to Job, which runs
	Program       string
	Arguments     []string
	Directory     string // empty for the default
	Environment   map[string]string
	Target        string // of rmctl; empty for the default
	Processes     int    // 0 for the default
	Settings      map[string]string
	Debugger      string      // gdb, lldb or dlv; empty for the default
	DebuggerPath  string      // on the target; empty for the default
	Stop          string      // as in [debug.Request]
	Ranks         debug.Ranks // nil for all
	Job           string
	Configuration string // name of a launch configuration; empty for none
	Copy          string // local file to copy to Program; empty for none
	NoDebug       bool   // run without stopping
}

// A launchFile is the JSON of an editor's configuration.
type launchFile struct {
	Program       string            `json:"program"`
	Args          []string          `json:"args"`
	Cwd           string            `json:"cwd"`
	Env           map[string]string `json:"env"`
	Target        string            `json:"target"`
	Processes     int               `json:"processes"`
	Settings      map[string]scalar `json:"settings"`
	Debugger      string            `json:"debugger"`
	DebuggerPath  string            `json:"debuggerPath"`
	Stop          string            `json:"stop"`
	StopOnEntry   bool              `json:"stopOnEntry"`
	Ranks         scalar            `json:"ranks"`
	Job           scalar            `json:"job"`
	Configuration string            `json:"configuration"`
	Copy          string            `json:"copy"`
	NoDebug       bool              `json:"noDebug"`
}

// A scalar is a string, number or boolean.
type scalar string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scalar) UnmarshalJSON(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	switch value := value.(type) {
	case nil:
		*s = ""
	case string:
		*s = scalar(value)
	case bool:
		*s = scalar(strconv.FormatBool(value))
	case float64:
		*s = scalar(text)
	default:
		return errors.New("invalid launch configuration: a setting, job or ranks must be a string, a number or a boolean")
	}
	return nil
}

// parseLaunch reads the arguments of a launch or attach request. It ignores unknown members, because editors add some.
func parseLaunch(text json.RawMessage, isAttach bool) (LaunchArguments, error) {
	var file launchFile
	if len(text) > 0 {
		if err := json.Unmarshal(text, &file); err != nil {
			return LaunchArguments{}, describeInvalid(err)
		}
	}
	arguments := LaunchArguments{
		IsAttach: isAttach, Program: file.Program, Arguments: file.Args, Directory: file.Cwd, Environment: file.Env,
		Target: file.Target, Processes: file.Processes, Debugger: file.Debugger, DebuggerPath: file.DebuggerPath,
		Job: string(file.Job), Configuration: file.Configuration, Copy: file.Copy, NoDebug: file.NoDebug,
	}
	if file.Settings != nil {
		arguments.Settings = map[string]string{}
		for name, value := range file.Settings {
			arguments.Settings[name] = string(value)
		}
	}
	var err error
	if arguments.Stop, err = stopOf(file); err != nil {
		return LaunchArguments{}, err
	}
	if file.Ranks != "" {
		var isSet bool
		if arguments.Ranks, isSet = ranges.Parse(string(file.Ranks)); !isSet || arguments.Ranks[len(arguments.Ranks)-1].Last >= debug.MostRanks {
			return LaunchArguments{}, fmt.Errorf("invalid launch configuration: invalid ranks %.100q: write 0-7,12", file.Ranks)
		}
	}
	return arguments, arguments.check()
}

// describeInvalid names the member of a configuration with the wrong type.
func describeInvalid(err error) error {
	if wrong, isType := errors.AsType[*json.UnmarshalTypeError](err); isType {
		names := map[string]string{"string": "a string", "int": "a whole number", "bool": "true or false"}
		expected := names[wrong.Type.Kind().String()]
		switch {
		case expected != "":
		case strings.HasPrefix(wrong.Type.String(), "[]"):
			expected = "a list of strings"
		default:
			expected = "an object"
		}
		return fmt.Errorf("invalid launch configuration: %q must be %s, not %s", wrong.Field, expected, wrong.Value)
	}
	return err
}

// stopOf returns where a program stops first.
func stopOf(file launchFile) (string, error) {
	switch {
	case file.NoDebug:
		return debug.StopNot, nil
	case file.StopOnEntry && file.Stop == "":
		return debug.StopAtEntry, nil
	case file.Stop == "":
		return debug.StopNot, nil
	case slices.Contains([]string{debug.StopAtMain, debug.StopAtEntry, debug.StopNot}, file.Stop):
		return file.Stop, nil
	}
	return "", fmt.Errorf(`invalid launch configuration: invalid "stop" %.100q: use main, entry or no`, file.Stop)
}

func (l LaunchArguments) check() error {
	switch {
	case l.IsAttach && l.Job == "":
		return errors.New(`invalid launch configuration: attaching requires "job"`)
	case !l.IsAttach && l.Program == "" && l.Configuration == "":
		return errors.New(`invalid launch configuration: launching requires "program" or "configuration"`)
	case l.Processes < 0:
		return errors.New(`invalid launch configuration: "processes" must not be negative`)
	}
	return nil
}
