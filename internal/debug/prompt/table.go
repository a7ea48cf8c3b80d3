package prompt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// A command is a command of the prompt.
type command struct {
	name      string
	short     []string // names that mean it though they are the beginnings of several
	arguments string
	help      string
	waits     bool // for stops, unless its line ends in &
	repeats   bool // by an empty line at a terminal
	run       func(p *prompt, ctx context.Context, rest string) (reply, error)
}

// commands returns all commands, in the order of the help.
func commands() []command {
	return []command{
		{name: "ranks", short: []string{"r"}, help: "show what all ranks do", run: runRanks},
		{name: "focus", short: []string{"f"}, arguments: "[RANKS|all]", help: "set the ranks that commands are for: 0-7,12", run: runFocus},
		{name: "start", short: []string{"run"}, arguments: "[main|entry|no]", help: "start the program, and stop there", waits: true, run: runStart},
		{name: "continue", short: []string{"c"}, help: "let ranks run until all have stopped", waits: true, run: runContinue},
		{name: "step", repeats: true, short: []string{"s"}, arguments: "[COUNT]", help: "run to another line, into calls", waits: true, run: stepper(debug.StepInto)},
		{name: "next", repeats: true, short: []string{"n"}, arguments: "[COUNT]", help: "run to another line, over calls", waits: true, run: stepper(debug.StepOver)},
		{name: "finish", repeats: true, arguments: "[COUNT]", help: "run until the function returns", waits: true, run: stepper(debug.StepOut)},
		{name: "halt", help: "stop ranks that run", run: runHalt},
		{name: "break", short: []string{"b"}, arguments: "PLACE [if CONDITION] [hits N] [log TEXT]", help: "stop at FILE:LINE, LINE or FUNCTION; $rank is the rank", run: adder(breakAt)},
		{name: "tbreak", arguments: "PLACE [if CONDITION]", help: "stop there once", run: adder(breakOnce)},
		{name: "watch", arguments: "EXPRESSION [read|any]", help: "stop when a value changes, or is read", run: adder(func(_ *prompt, rest string) (debug.Breakpoint, error) { return parseWatch(rest) })},
		{name: "catch", arguments: "throw|catch|panic", help: "stop at exceptions of C++, or panics of Go", run: adder(func(_ *prompt, rest string) (debug.Breakpoint, error) { return parseCatch(rest) })},
		{name: "breakpoints", help: "list breakpoints, and where ranks have them", run: runBreakpoints},
		{name: "delete", short: []string{"d"}, arguments: "[NUMBER…]", help: "delete breakpoints, all without numbers", run: changer(remove)},
		{name: "enable", arguments: "[NUMBER…]", help: "enable breakpoints", run: changer(enable)},
		{name: "disable", arguments: "[NUMBER…]", help: "disable breakpoints", run: changer(disable)},
		{name: "where", short: []string{"bt", "backtrace", "w"}, arguments: "[COUNT]", help: "show stacks, equal ones once", run: runWhere},
		{name: "up", repeats: true, arguments: "[COUNT]", help: "select the frame of the caller", run: mover(1)},
		{name: "down", repeats: true, arguments: "[COUNT]", help: "select the frame of the called function", run: mover(-1)},
		{name: "frame", arguments: "[NUMBER]", help: "select a frame", run: runFrame},
		{name: "list", repeats: true, short: []string{"l"}, arguments: "[LINE|FILE:LINE]", help: "show source lines, then the next ones", run: runList},
		{name: "print", short: []string{"p"}, arguments: "EXPRESSION", help: "show a value", run: runPrint},
		{name: "set", arguments: "EXPRESSION = VALUE", help: "change a value", run: runSet},
		{name: "type", arguments: "EXPRESSION", help: "show the type of a value", run: runType},
		{name: "locals", help: "show the variables of the frame", run: variables("locals")},
		{name: "args", help: "show the arguments of the frame", run: variables("arguments")},
		{name: "threads", help: "list threads", run: runThreads},
		{name: "thread", arguments: "NUMBER", help: "select a thread", run: runThread},
		{name: "kill", short: []string{"k"}, help: "end the focused ranks; the job if all are focused", run: ender(debug.Kill, func(o *Options) func(context.Context) error { return o.Kill })},
		{name: "detach", help: "let the focused ranks run without a debugger", run: ender(debug.Detach, func(o *Options) func(context.Context) error { return o.Release })},
		{name: "raw", arguments: "TEXT", help: "run a command of the debugger itself", run: runRaw},
		{name: "help", short: []string{"h"}, arguments: "[COMMAND]", help: "show commands", run: runHelp},
		{name: "quit", short: []string{"q", "exit"}, help: "leave: kill a program that was launched, detach from others", run: runQuit},
	}
}

// find returns the command that a name or its unique beginning means.
func find(name string) (command, error) {
	var found []command
	for _, c := range commands() {
		if c.name == name || slices.Contains(c.short, name) {
			return c, nil
		}
		if strings.HasPrefix(c.name, name) {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) == 0 {
		return command{}, fmt.Errorf("unknown command %q: enter \"help\"", plain(name))
	}
	var names []string
	for _, c := range found {
		names = append(names, c.name)
	}
	return command{}, fmt.Errorf("%q may be %s", name, strings.Join(names, ", "))
}

const helpAfter = `
The beginning of a name is enough if it is unique. Commands that let ranks run wait for their stops;
Ctrl-C halts them. With & at the end they do not wait. At a terminal an empty line repeats steps, up,
down and list.`

// runHelp describes commands.
func runHelp(_ *prompt, _ context.Context, rest string) (reply, error) {
	if rest != "" {
		c, err := find(rest)
		text := strings.TrimSpace(c.name+" "+c.arguments) + ": " + c.help
		if len(c.short) > 0 {
			text += "\nalso: " + strings.Join(c.short, ", ")
		}
		return reply{Help: text, text: text}, err
	}
	var text strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&text, "%-30s %s\n", strings.TrimSpace(c.name+" "+c.arguments), c.help)
	}
	text.WriteString(helpAfter)
	return reply{Help: text.String(), text: text.String()}, nil
}
