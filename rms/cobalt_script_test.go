package rms_test

import (
	"os/user"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCobaltEveryAttributeMakesItsDirective(t *testing.T) {
	definition := shippedDefinition(t, "cobalt")
	covered := map[string]bool{"join": true, "shell": true, "launcher": true}
	for pair, directive := range map[string]string{
		"job-name=a.b-c": "--jobname a.b-c", "queue=debug-cache-quad": "-q debug-cache-quad", "project=p": "-A p", "nodecount=8": "-n 8", "time=1:30:00": "-t 1:30:00", "mode=c16": "--mode c16",
		"proccount=64": "--proccount 64", "attrs=mcdram=flat:numa=quad": "--attrs mcdram=flat:numa=quad", "dependencies=12:13": "--dependencies 12:13", "held=true": "-h", "preemptable=true": "--preemptable",
		"user-list=ada:bob": "--run_users ada:bob", "run-project=true": "--run_project", "env=A=1:B=2": "--env A=1:B=2", "cwd=/scratch": "--cwd /scratch", "umask=077": "--umask 077",
		"output-prefix=run.$jobid": "-O run.$jobid", "output=o.$jobid": "-o o.$jobid", "error=e": "-e e", "input=i": "-i i", "notify=ada@example.org": "-M ada@example.org", "kernel=default": "--kernel default",
		"kernel-options=a": "-K a", "ion-kernel=default": "--ion_kernel default", "ion-kernel-options=b": "--ion_kerneloptions b", "geometry=4x4x4x8x2": "--geometry 4x4x4x8x2",
		"disable-preboot=true": "--disable_preboot", "qsub-options=--ebquick 1 -v": "--ebquick 1 -v",
	} {
		name, value, _ := strings.Cut(pair, "=")
		covered[name] = true
		script, err := renderGridEngine(t, definition, name, value)
		require.NoError(t, err, pair)
		require.Contains(t, strings.Split(script, "\n"), "#COBALT "+directive, pair)
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
	script, err := renderGridEngine(t, definition, "join", "y", "shell", "/bin/bash -l", "launcher", "aprun -n 64 -N 32", "held", "false")
	require.NoError(t, err)
	require.Equal(t, "#!/bin/bash -l\n#COBALT --jobname true\n#COBALT -n 1\n#COBALT --mode script\n#COBALT -o $jobid.output\n#COBALT -e $jobid.output\nexec aprun -n 64 -N 32 true\n", script)
	script, err = renderGridEngine(t, definition)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\n#COBALT --jobname true\n#COBALT -n 1\n#COBALT --mode script\nexec true\n", script)
}

// A value stands in a directive as it is: none may end it, or add an option.
func TestCobaltRefusesValuesThatItsDirectivesCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "cobalt")
	for _, defined := range definition.Attributes {
		if !defined.Visible() {
			continue
		}
		for _, value := range []string{"x\nrm -rf /", "x\x00"} {
			_, err := renderGridEngine(t, definition, defined.Name(), value)
			require.Error(t, err, "%s=%q", defined.Name(), value)
		}
		if defined.Name() == "qsub-options" {
			continue
		}
		for _, value := range []string{`a"b`, "a'b", "a`b`", "$(date)", `a\b`} {
			_, err := renderGridEngine(t, definition, defined.Name(), value)
			require.Error(t, err, "%s=%q", defined.Name(), value)
		}
	}
	for name, value := range map[string]string{
		"job-name": "a b", "nodecount": "1 -q root", "output": "a b", "time": "1h", "attrs": "a b", "dependencies": "a", "cwd": "relative", "umask": "9", "geometry": "4", "qsub-options": "rm -rf",
		"join": "yes", "held": "maybe", "launcher": "mpirun; date",
	} {
		_, err := renderGridEngine(t, definition, name, value)
		require.Error(t, err, "%s=%q", name, value)
	}
}

// Cobalt needs an address for mail: that of its user where none is given.
func TestCobaltSendsMailToItsUserWithoutAnAddress(t *testing.T) {
	me, err := user.Current()
	require.NoError(t, err)
	for _, events := range []string{"begin", "end", "fail", "end,begin", "begin,fail", "end,fail", "all"} {
		directives, err := portableDirectives(t, "cobalt", "mail="+events)
		require.NoError(t, err, events)
		require.Equal(t, "-M "+me.Username, directives, events)
	}
}
