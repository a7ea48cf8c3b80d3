package rmctltest

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sync/semaphore"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/execution"
)

// Scripts runs the testscripts of a folder, each with a home directory of its
// own and with further variables in its environment. PROJECT is the folder of
// the project. They have two commands more than others:
//
//	job                           sets JOB to the id that the last command printed
//	rmctl_exit CODE ARGUMENT...   runs rmctl and demands an exit code; again where a fresh
//	                              answer was wanted and the scheduler, on a busy machine,
//	                              took too long to be asked once more within a minute
func Scripts(t *testing.T, folder string, environment map[string]string) {
	t.Helper()
	ScriptsAtOnce(t, folder, environment, math.MaxInt32)
}

// ScriptsAtOnce is Scripts for scripts that keep a processor busy: no more than
// so many of them run at the same time.
func ScriptsAtOnce(t *testing.T, folder string, environment map[string]string, atOnce int64) {
	t.Helper()
	project := Project(t)
	running := semaphore.NewWeighted(atOnce)
	testscript.Run(t, testscript.Params{
		Dir:                 folder,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			if err := running.Acquire(context.Background(), 1); err != nil {
				return err
			}
			env.Defer(func() { running.Release(1) })
			home := filepath.Join(env.WorkDir, "home")
			if err := os.Mkdir(home, 0o700); err != nil {
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

// endPatience is how long a background process may need to end the last of its sessions.
const endPatience = 3 * time.Second

// endBackground ends the background process that a script may have left.
func endBackground(home string) {
	folder, err := daemon.Folder(filepath.Join(home, ".local", "state", "rmctl"))
	if err != nil {
		return
	}
	for late := time.Now().Add(endPatience); ; {
		_, err := daemon.Find(folder).Stop(context.Background())
		if err == nil || errors.Is(err, daemon.ErrNotRunning) || time.Now().After(late) {
			return
		}
		execution.ClosesWithin(nil, endPatience/50)
	}
}

func commandJob(script *testscript.TestScript, _ bool, _ []string) {
	id := strings.TrimRight(script.ReadFile("stdout"), "\n")
	if id == "" {
		script.Fatalf("the last command printed no job id")
	}
	script.Setenv("JOB", id)
}

func commandExit(script *testscript.TestScript, _ bool, arguments []string) {
	if len(arguments) < 2 {
		script.Fatalf("usage: rmctl_exit CODE ARGUMENT...")
	}
	want, err := strconv.Atoi(arguments[0])
	script.Check(err)
	code := rmctlExits(script, arguments[1:])
	if code != want {
		script.Fatalf("rmctl exited with %d, not %d", code, want)
	}
}

// rmctlExits runs rmctl and returns its exit code.
func rmctlExits(script *testscript.TestScript, arguments []string) int {
	err := script.Exec("rmctl", arguments...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		script.Fatalf("running rmctl: %v", err)
	}
	return 0
}
