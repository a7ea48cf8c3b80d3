package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rmctl/rmctl/background"
)

// The test binary is rmctl itself to the scripts that it runs.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rmctl":         func() { os.Exit(rmctlCode()) },
		"rmctl_settled": func() { os.Exit(settledCode()) },
	})
}

// Each script of testdata/script is a conversation with rmctl, with a home
// directory of its own.
func TestCommandLine(t *testing.T) {
	runScripts(t, filepath.Join("testdata", "script"), nil)
}

// runScripts runs the scripts of a folder, with further variables in their environment.
func runScripts(t *testing.T, folder string, environment map[string]string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:                 folder,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			if err := os.Mkdir(home, 0o700); err != nil {
				return err
			}
			project, err := filepath.Abs(filepath.Join("..", ".."))
			if err != nil {
				return err
			}
			env.Defer(func() { endBackground(home) })
			env.Setenv("HOME", home)
			env.Setenv("PROJECT", project)
			env.Setenv("XDG_STATE_HOME", "")
			env.Setenv("XDG_CONFIG_HOME", "")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would hold up the end of every rmctl for a second
			for name, value := range environment {
				env.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"job":        commandJob,
			"rmctl_exit": commandExit,
		},
	})
}

// endBackground ends the background process that a script may have left.
func endBackground(home string) {
	folder, err := background.Folder(filepath.Join(home, ".local", "state", "rmctl"))
	if err != nil {
		return
	}
	if client, err := background.Find(folder); err == nil {
		_, _ = client.Stop(context.Background()) // mostly there is none
	}
}

// commandJob sets the variable JOB to the id that the last command printed:
//
//	job
func commandJob(script *testscript.TestScript, _ bool, _ []string) {
	id := script.ReadFile("stdout")
	for len(id) > 0 && id[len(id)-1] == '\n' {
		id = id[:len(id)-1]
	}
	if id == "" {
		script.Fatalf("the last command printed no job id")
	}
	script.Setenv("JOB", id)
}

// commandExit runs rmctl and demands an exit code:
//
//	rmctl_exit CODE ARGUMENT...
func commandExit(script *testscript.TestScript, _ bool, arguments []string) {
	if len(arguments) < 2 {
		script.Fatalf("usage: rmctl_exit CODE ARGUMENT...")
	}
	want, err := strconv.Atoi(arguments[0])
	script.Check(err)
	code := 0
	var exit *exec.ExitError
	switch err := script.Exec("rmctl", arguments[1:]...); {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		script.Fatalf("running rmctl: %v", err)
	}
	if code != want {
		script.Fatalf("rmctl exited with %d, not %d", code, want)
	}
}
