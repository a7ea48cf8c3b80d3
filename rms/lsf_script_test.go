package rms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLSFEveryAttributeMakesItsDirective(t *testing.T) {
	definition := shippedDefinition(t, "lsf")
	covered := map[string]bool{"join": true, "shell": true, "launcher": true}
	for pair, directive := range map[string]string{
		"job-name=a.b-c": `-J "a.b-c"`, "array=[1-9:2,12]%3": `-J "true[1-9:2,12]%3"`, "queue=night-1.long short": `-q "night-1.long short"`,
		"slots=4,8": `-n 4,8`, "ptile=4": `-R "span[ptile=4]"`, "block=2": `-R "span[block=2]"`, "mem=4GB": `-R "rusage[mem=4GB]"`,
		"memory-limit=500MB": `-M 500MB`, "run-limit=1:30": `-W 1:30`, "run-estimate=20": `-We 20`, "cpu-limit=60": `-c 60`,
		"gpu=num=2:mode=shared": `-gpu "num=2:mode=shared"`, "resources=select[type==any] order[ut]": `-R "select[type==any] order[ut]"`,
		"hosts=hosta hostb+2": `-m "hosta hostb+2"`, "exclusive=true": `-x`, "project=p": `-P "p"`, "user-group=g": `-G "g"`, "application=a": `-app "a"`,
		"service-class=s": `-sla "s"`, "reservation=user1#0": `-U "user1#0"`, "job-group=/a/b": `-g "/a/b"`, "licence-project=l": `-Lp "l"`,
		"description=my job": `-Jd "my job"`, "dependency=done(1) && ended(2)": `-w "done(1) && ended(2)"`, "begin=12:25:8:30": `-b 12:25:8:30`,
		"deadline=20:30": `-t 20:30`, "hold=true": `-H`, "priority=7": `-sp 7`, "rerunnable=true": `-r`, "requeue-exit-codes=99 EXCLUDE(100)": `-Q "99 EXCLUDE(100)"`,
		"pre-exec=/bin/a b": `-E "/bin/a b"`, "post-exec=/bin/c": `-Ep "/bin/c"`, "warning-time=5": `-wt 5`, "warning-action=URG": `-wa "URG"`,
		"working-directory=/scratch": `-cwd "/scratch"`, "output=o.%J.%I": `-o "o.%J.%I"`, "error=e": `-e "e"`, "input=i": `-i "i"`,
		"mail-events=N": `-N`, "mail-user=ada@example.org": `-u "ada@example.org"`, "environment=none": `-env "none"`, "bsub-options=-ar -L /bin/sh": `-ar -L /bin/sh`,
	} {
		name, value, _ := strings.Cut(pair, "=")
		covered[name] = true
		script, err := renderGridEngine(t, definition, name, value)
		require.NoError(t, err, pair)
		require.Contains(t, strings.Split(script, "\n"), "#BSUB "+directive, pair)
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
	script, err := renderGridEngine(t, definition, "join", "y", "shell", "/bin/bash -l", "launcher", "blaunch", "hold", "false")
	require.NoError(t, err)
	require.Equal(t, "#!/bin/bash -l\n#BSUB -J \"true\"\n#BSUB -o \"true.o%J\"\nexec blaunch true\n", script)
}

// A value stands in a directive as it is: none may end the quotes around it, or the line.
func TestLSFRefusesValuesThatItsDirectivesCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "lsf")
	for _, defined := range definition.Attributes {
		if !defined.Visible() || defined.Name() == "bsub-options" {
			continue
		}
		for _, value := range []string{"x\nrm -rf /", `a"b`, "a'b", "a`b`", "$(date)", `a\b`} {
			_, err := renderGridEngine(t, definition, defined.Name(), value)
			require.Error(t, err, "%s=%q", defined.Name(), value)
		}
	}
	for name, value := range map[string]string{
		"job-name": "a b", "slots": "1 -q root", "output": "a b", "array": "[0-9]", "mem": "much", "run-limit": "1:75", "begin": "tomorrow",
		"working-directory": "relative", "bsub-options": "rm -rf", "join": "yes", "job-group": "relative",
	} {
		_, err := renderGridEngine(t, definition, name, value)
		require.Error(t, err, "%s=%q", name, value)
	}
}
