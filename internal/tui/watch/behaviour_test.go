package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

func TestJobsAreSearchedChosenAndSorted(t *testing.T) {
	u := sit(t, cluster(t))
	u.press("/")
	u.press("BATCH hold")
	u.shows("4713", "1 of 6 jobs", "/BATCH hold_")
	u.press("esc")
	u.shows("6 jobs")
	u.press("f")
	u.shows("4713", "4712", "2 of 6 jobs", "queued or held")
	u.press("f")
	u.shows("10001", "4711", "2 of 6 jobs", "running")
	u.press("f", "f")
	u.shows("FAILED", "1 of 6 jobs", "in error")
	u.press("f")
	u.shows("-- 6 jobs --")
	u.press("m")
	u.shows("4711", "5 ", "2 of 6 jobs", "mine")
	u.press("esc")
	u.press(">", ">", "o") // by state, what runs first
	u.shows("STATE^", "RUNNING", "SUSPENDED", "QUEUED", "HELD", "COMPLETED", "FAILED")
	u.press("o")
	u.shows("STATEv", "FAILED", "COMPLETED")
	u.press("<", "<", "<") // round to the last
	u.shows("REASONv")
}

func TestAWideTerminalShowsWholeNamesAndDetails(t *testing.T) {
	m := cluster(t)
	long := "fluid-dynamics-of-a-" + strings.Repeat("very-", 4) + "long-name"
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: "4712", Attributes: attributes("name", long)})
	})
	u := sit(t, m)
	u.resize(160, 24)
	u.shows("STATE", "DETAIL", "HELD", "USER_ON_HOLD", "QUEUED", "QUEUED_ACTIVE", long, "Priority", "RUNNING  ")
	u.resize(80, 24)
	u.shows("QUEUED", "fluid", "…", "Priority")
	u.lacks("DETAIL", "QUEUED_ACTIVE", long)
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: "4712", Attributes: attributes("name", strings.Repeat("x", 1000))})
	})
	u.resize(160, 24)
	u.sees(m)
	u.shows("xxx…", "Priority")
}

func TestANarrowTerminalShowsHowToLeaveAndWhereTheHelpIs(t *testing.T) {
	u := sit(t, cluster(t))
	u.resize(40, 15)
	for _, list := range []string{"1", "2", "3", "4"} {
		u.press(list)
		u.shows("? help  q quit")
	}
	u.shows("n submit  c cancel  ? help")
	u.press("?")
	u.shows("  Enter  details of the row; for a", "\n    job also its history and output")
	u.lacks("…")
	u.press("esc", "enter")
	u.shows("Left/Right page", "Esc back")
}

func TestTheListIsNarrowedDownToAQueue(t *testing.T) {
	u := sit(t, cluster(t))
	u.press("2", "end", "w")
	u.shows("[4 Jobs]", "4714", "1 of 5 jobs", "within slurm/debug")
	u.lacks("4711")
	u.press("3")
	u.shows("100 nodes", "within slurm")
	u.press("esc", "4")
	u.shows("6 jobs")
}

func TestTheCursorStaysOnItsJobWhileOthersCome(t *testing.T) {
	m := cluster(t)
	u := sit(t, m)
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: "10002"})
	})
	u.sees(m)
	u.shows("> 10002") // until it is moved it is in the first row
	change(t, m, func(up *model.Update) { up.Remove("slurm", model.Job, "10002") })
	u.sees(m)
	u.press("down", "down")
	u.shows("> 4713")
	change(t, m, func(up *model.Update) {
		for i := range 50 {
			up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: fmt.Sprint(20000 + i)})
		}
	})
	u.sees(m)
	u.shows("> 4713", "56 jobs")
	change(t, m, func(up *model.Update) { up.Remove("slurm", model.Job, "4713") })
	u.sees(m)
	u.shows("> 4712", "55 jobs")
	change(t, m, func(up *model.Update) {
		for _, word := range []string{"STOPPING", "STOPPED"} {
			up.Put(model.Row{Kind: model.ResourceManager, ID: "slurm", Attributes: attributes("rmState", word)})
		}
	})
	u.sees(m)
	u.shows("> 5 ", "1 job")
}

func TestAnotherChoiceOrOrderBeginsInTheFirstRow(t *testing.T) {
	for _, keys := range [][]string{{"o"}, {">"}, {"f"}, {"m"}, {"/", "job", "enter"}} {
		u := sit(t, cluster(t))
		u.press("down", "down")
		u.press(keys...)
		first, shown := u.table().answer.rows[0], u.table().at
		require.Zero(t, shown, "%v: %s is the first row", keys, first.element.ID())
		u.shows("> " + first.element.ID())
	}
}

func TestNothingIsDoneToJobsWithoutAYes(t *testing.T) {
	u := sit(t, cluster(t))
	u.press("down", "down", "c")
	u.shows("Cancel job 4713 (held back) of slurm? [y/N]")
	u.press("n")
	require.Empty(t, u.did)
	for key, operation := range map[string]string{"c": "cancel", "h": "hold", "r": "release", "s": "suspend", "u": "resume"} {
		u.did = nil
		u.press(key, "y")
		require.Equal(t, []string{operation + " slurm/4713"}, u.did)
		u.shows(operation + " job 4713 (held back) of slurm: done")
	}
}

func TestWhatIsDoneToMarkedJobsIsDoneToEach(t *testing.T) {
	u := sit(t, cluster(t))
	u.refuses["hold slurm/4714"] = errors.New("job 4714 \x1b[2J has ended")
	u.press("space", "space", "space", "h")
	u.shows("3 marked", "Hold 3 jobs: 10001, 4714, 4713?")
	u.press("y")
	require.ElementsMatch(t, []string{"hold slurm/10001", "hold slurm/4714", "hold slurm/4713"}, u.did)
	u.shows(`! hold 3 jobs: 10001, 4714, 4713: job 4714 \u001b[2J has ended`)
	u.lacks("marked")
	u.resize(40, 24)
	u.press("e")
	u.shows("Messages", "hold 3 jobs: 10001, 4714,", `has`, `ended`)
	u.press("esc")
	u.shows("[4 J]")
}

func TestWhatIsOldIsMarked(t *testing.T) {
	m := cluster(t)
	u := sit(t, m)
	u.shows("2/4 started, 1 old, 1 in error", "RUNNING ")
	u.press("1")
	u.shows("retrying far in 1m30s")
	u.press("down")
	u.lacks("again in")
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Kind: model.ResourceManager, ID: "slurm", Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: vocabulary.StateError}}})
	})
	u.sees(m)
	u.press("4")
	u.shows("1/4 started, 1 old, 2 in error", "FAILED ", "HELD?", "RUNNING?", "COMPLETED ")
	u.press("2")
	u.shows("COLLECTING?")
	u.press("3", "v")
	u.shows("UP?")
}

func TestManagersAreStartedAndStopped(t *testing.T) {
	u := sit(t, cluster(t))
	u.press("1", "s")
	require.Equal(t, []string{"start far"}, u.did, "one that is in error is tried again")
	u.press("end", "x")
	u.shows("Stop slurm? Its jobs keep running")
	u.press("y")
	u.press("a")
	u.shows("Start another target", "> lsf")
	u.press("enter")
	u.press("R")
	require.Equal(t, []string{"start far", "stop slurm", "start lsf", "refresh slurm"}, u.did)
	u.press("4", "R")
	require.Equal(t, []string{"refresh local", "refresh slurm"}, u.did[4:], "elsewhere all that are started")
	u.refuses["start far"] = errors.New("it is stopping")
	u.press("1", "home", "s")
	u.shows("! start far: it is stopping")
}

func TestALaunchConfigurationIsChosen(t *testing.T) {
	u := sit(t, cluster(t))
	u.press("N")
	u.shows("no saved submissions")
	u.kept = []string{"nightly", "weekly"}
	u.press("N", "down")
	u.shows("Submit a saved submission", "> weekly")
	u.press("enter")
	u.shows("Submit to", "> slurm")
	submit, done := u.submission("slurm", "weekly")
	require.NoError(t, submit(nil, nil))
	require.Contains(t, u.did, "submit weekly to slurm")
	u.press("esc")
	done(nil)
	u.shows("nothing submitted")
	u.refuses["saved submissions"] = errors.New("no folder")
	u.press("N")
	u.shows("! cannot list the saved submissions: no folder")
}

func TestTheHistoryOfAJobShowsItsSources(t *testing.T) {
	m := cluster(t)
	u := sit(t, m)
	u.history = []job.Event{
		{Kind: job.EventAccepted, Observation: job.Observation{Observed: noon, Detail: job.Submitted, Source: "submit", Origin: job.Origin{Stream: "stdout", Line: 1, Text: "Submitted batch job 10001"}}},
		{Kind: job.EventState, Observation: job.Observation{Observed: noon, Detail: job.Running, Native: "R\x1b[2J", Source: "status", Origin: job.Origin{Stream: "stdout", Line: 3, Text: "10001 RUNNING \u202e" + strings.Repeat("x", 9000)}}},
	}
	u.press("enter", "right")
	u.shows("[History]", "accepted  QUEUED  SUBMITTED", "submit stdout:1: Submitted batch job 10001", `state  RUNNING (R\u001b[2J)`, `status stdout:3: 10001 RUNNING`, `\u202e`, "xxx")
	u.history = append(u.history, job.Event{Kind: "missing", Observation: job.Observation{Observed: noon, Reason: "gone"}})
	u.press("home")
	u.lacks("missing")
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: "10001", Attributes: attributes("jobStatusMessage", "new")})
	})
	u.sees(m)
	u.press("end")
	u.shows("missing", "gone")
	u.refuses["history slurm/4714"] = jobstore.ErrNotFound
	u.history = nil
	u.press("esc", "down", "enter", "2")
	u.shows("the job was not submitted through rmctl")
}

func TestTheOutputOfAJobIsFollowed(t *testing.T) {
	u := sit(t, cluster(t))
	u.output = "one\n\x1b[31mred\x1b[0m\n\tand\ttabs\n 10%\r 20%\r\n" + strings.Repeat("L", 100_000) + "\nwithout an end"
	u.press("enter", "3")
	u.shows("[Output]", "one\n", `\u001b[31mred\u001b[0m`, "    and    tabs", " 20%", "LLLL…", "without an end", "(the end)")
	require.Contains(t, u.did, "follow slurm/10001 false")
	u.lacks("10%")
	u.output = "oops\n"
	u.press("right")
	u.shows("[Errors]", "oops")
	require.Contains(t, u.did, "follow slurm/10001 true")
	u.refuses["follow slurm/10001 false"] = errors.New("there is no such file")
	u.press("left")
	u.shows("! there is no such file")
}

func TestLongOutputKeepsItsEnd(t *testing.T) {
	u := sit(t, cluster(t))
	var lines strings.Builder
	for i := range 3 * tailLines {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	u.output = lines.String()
	u.press("enter", "3")
	u.shows("line 14999\n", "(the end)")
	u.press("up", "up")
	u.shows("line 14997\n")
	u.lacks("(the end)")
	u.press("home")
	u.shows("(earlier output is not shown; rmctl output slurm/10001 prints everything)", "line 10000")
	u.press("end")
	u.shows("(the end)")

	u.output, u.skips = "of a line\nanother\n", 1000
	u.press("right", "left")
	u.shows("(earlier output is not shown", "another")
	u.lacks("of a line")
}

func TestTextThatIsHeldStaysWhereItIs(t *testing.T) {
	u := sit(t, cluster(t))
	u.press("enter", "right", "right")
	write := func(from, to int) {
		for i := from; i < to; i++ {
			fmt.Fprintf(u.detail.output.kept, "line %05d\n", i)
		}
		u.Update(pulseMsg{snapshot: u.snapshot, now: noon})
	}
	write(0, 9900)
	u.press("up")
	held := u.screen()
	write(9900, 10200) // the older half went
	require.Equal(t, held, u.screen())
	write(10200, 14990)
	require.Equal(t, held, u.screen())
	write(14990, 15100) // so did what is held
	u.shows("earlier output is not shown", "line 10000")
	u.press("end")
	u.shows("line 15099")
}

func TestProcessesAreShownWithTheirJobAndTheirNode(t *testing.T) {
	m := cluster(t)
	change(t, m, func(up *model.Update) {
		for i, pairs := range [][]string{{"processState", "RUNNING", "processPID", "77"}, {"processState", "EXITED", "processExitCode", "3"}, {"processState", "EXITED_SIGNALLED", "processSignalName", "SIGSEGV\x1b"}} {
			up.Put(model.Row{Manager: "slurm", Kind: model.Process, Parent: "4711", ID: fmt.Sprintf("4711.%d", i), Attributes: attributes(append(pairs, "processNodeId", "n001")...)})
		}
	})
	u := sit(t, m)
	u.press("/", "4711", "enter", "enter")
	u.shows("Process 4711.0", "RUNNING on n001 PID 77", "Process 4711.1", "EXITED on n001 code 3", "Process 4711.2", `EXITED_SIGNALLED on n001 by SIGSEGV\u001b`)
	u.press("esc", "3", "/", "n001", "enter", "enter")
	u.shows("Node n001", "Process 4711.0", "RUNNING")
}

func TestTheJobsThatHaveANodeAreShownWithIt(t *testing.T) {
	m := cluster(t)
	u := sit(t, m)
	u.press("3", "/", "n003", "enter", "enter")
	u.shows("Node n003", "Job 4711", "RUNNING ann train batch n[001-004]")
	u.press("esc", "esc", "/", "n005", "enter", "enter")
	u.shows("Node n005")
	u.lacks("4711")
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: "5000", Attributes: attributes("jobState", "RUNNING", "jobNodes", "n005,n007", "userId", "eve\x1b")})
	})
	u.sees(m)
	u.shows("Job 5000", `eve\u001b`, "n005,n007")
}

func TestAJobThatIsGoneIsShownAsItWas(t *testing.T) {
	m := cluster(t)
	u := sit(t, m)
	u.press("enter")
	u.shows("Job 10001", "ann2")
	change(t, m, func(up *model.Update) { up.Remove("slurm", model.Job, "10001") })
	u.sees(m)
	u.shows("It is no longer listed", "ann2")
}

func TestQuestionsOfConnectionsAreAskedOnTheScreen(t *testing.T) {
	u := sit(t, cluster(t))
	replies := make(chan reply, 1)
	ask := func(secret bool) {
		u.Update(tui.Prompt{Context: t.Context(), Question: remote.Question{Host: "login\x1b[2J", Text: "rmctl: all is well\nPassword:", Secret: secret}, Reply: into(replies)})
	}
	ask(true)
	u.shows(`login\u001b[2J asks`, `login\u001b[2J: rmctl: all is well`, `login\u001b[2J: Password:`, "Answer: _", "Enter answer")
	u.press("q", "hunter2x", "backspace")
	u.lacks("hunter", "q")
	u.press("enter")
	require.Equal(t, reply{answer: "qhunter2"}, <-replies)
	u.shows("[4 Jobs]")
	ask(false)
	u.press("yes")
	u.shows("Answer: yes_")
	u.press("esc")
	require.ErrorIs(t, (<-replies).err, remote.ErrNobodyToAsk)
}

func TestWhatIsTypedForOneQuestionGoesNowhereElse(t *testing.T) {
	u := sit(t, cluster(t))
	first, second := make(chan reply, 1), make(chan reply, 1)
	u.Update(tui.Prompt{Context: t.Context(), Question: remote.Question{Host: "first", Text: "Password:", Secret: true}, Reply: into(first)})
	u.press("hun")
	u.Update(tui.WithdrawnMsg{})
	u.Update(tui.Prompt{Context: t.Context(), Question: remote.Question{Host: "second", Text: "Password:", Secret: true}, Reply: into(second)})
	u.shows("first no longer waits for an answer", "Enter continue")
	u.press("cy")
	u.Update(tea.PasteMsg{Content: "ter2"})
	u.lacks("second asks", "ter2")
	u.press("enter")
	require.Empty(t, u.did, "the rest of a password is no command")
	require.Empty(t, second, "nor an answer to somebody else")
	u.shows("second asks", "Answer: _")
	u.press("x", "enter")
	require.Equal(t, reply{answer: "x"}, <-second)
	u.shows("[4 Jobs]")
}

func TestAQuestionThatCameTooLateIsNotShown(t *testing.T) {
	u := sit(t, cluster(t))
	over, end := context.WithCancel(t.Context())
	end()
	u.Update(tui.Prompt{Context: over, Question: remote.Question{Host: "login", Text: "Password:"}, Reply: func(string, error) {}})
	u.Update(tui.WithdrawnMsg{})
	u.shows("[4 Jobs]")
	u.lacks("Enter continue")
}

func TestAQuestionWaitsForWhatIsBeingTyped(t *testing.T) {
	replies := make(chan reply, 1)
	asked := tui.Prompt{Context: t.Context(), Question: remote.Question{Host: "login", Text: "Password:", Secret: true}, Reply: into(replies)}
	for keys, ends := range map[string]string{"/": "enter", "c": "n"} {
		u := sit(t, cluster(t))
		u.press(keys)
		u.Update(asked)
		u.lacks("Answer:")
		u.shows("login has a question: first finish this")
		u.press(ends)
		require.Empty(t, replies)
		u.shows("login asks")
		u.Update(tui.WithdrawnMsg{})
		u.press("esc")
		u.press(keys)
		u.Update(asked)
		u.Update(tui.WithdrawnMsg{})
		u.press(ends)
		u.shows("[4 Jobs]")
	}
}

func TestWhatIsSaidIsShown(t *testing.T) {
	u := sit(t, cluster(t))
	notices := &tui.Notices{}
	for i := range 1000 {
		fmt.Fprintf(notices, "level=WARN msg=\"number %d\"\n", i)
	}
	_, _ = notices.Write([]byte("half a "))
	require.Len(t, notices.Take(), 200)
	_, _ = notices.Write([]byte("line \x1b]0;title\x07\n"))
	u.Update(pulseMsg{snapshot: u.snapshot, now: noon, notices: notices.Take()})
	u.shows(`half a line \u001b]0;title\u0007`)
}

// What a scheduler, or a job's owner through it, may put into any text.
var hostile = "\x1b]0;title\x07\x1b[2J\u009b31m\u202egnp.exe\u2066\u200b\u2028\x00\xff\b\r\x7f 漢字 e\u0301" + strings.Repeat("\u0301", 3000) + "👩‍👩‍👧‍👦 <b>" + strings.Repeat("A", 5000)

func TestHostileTextIsShownAsText(t *testing.T) {
	m := cluster(t)
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Manager: "slurm", Kind: model.Queue, ID: "q" + hostile[:200], Attributes: attributes("name", hostile, "queueStatus", hostile, "queueTimeLimit", hostile)})
		up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: "99999" + hostile[:100], Attributes: attributes("name", hostile, "userId", hostile, "jobStatusMessage", hostile, "jobNodes", hostile, "jobDetail", hostile)})
		up.Put(model.Row{Manager: "slurm", Kind: model.Node, Parent: "login.example.org", ID: "a" + hostile[:100], Attributes: attributes("name", hostile, "nodeState", "DOWN", "nodeReason", hostile, "nodeQueues", hostile)})
		up.Put(model.Row{Kind: model.ResourceManager, ID: "far", Attributes: attributes("rmCause", hostile, "rmHost", hostile, "name", hostile)})
	})
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 10}, {13, 5}} {
		u := sit(t, m)
		u.resize(size[0], size[1])
		u.history = []job.Event{{Kind: job.EventState, Observation: job.Observation{Reason: hostile, Source: hostile, Native: hostile, Origin: job.Origin{Stream: hostile, Line: 1, Text: hostile}}}}
		u.output = hostile + "\n" + hostile
		for _, keys := range [][]string{
			{"4"}, {"enter"}, {"right"}, {"right"}, {"end"}, {"esc"}, {"c"}, {"n"}, {"/", hostile[:60]}, {"esc"}, {"w"}, {"esc"},
			{"1"}, {"enter"}, {"esc"}, {"2", "end"}, {"enter"}, {"esc"}, {"3"}, {"home", "right"}, {"enter"}, {"esc"}, {"v"}, {"e"},
		} {
			u.press(keys...)
			shown := strings.ReplaceAll(u.screen(), "\n", "")
			require.Negative(t, strings.IndexFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }), "%q after %q", shown, keys[0])
			require.NotContains(t, u.View().Content, "\u0301\u0301\u0301")
		}
	}
}

func TestScreensOfAllSizesFit(t *testing.T) {
	u := sit(t, cluster(t))
	for _, width := range []int{1, 2, 5, 10, 20, 33, 40, 60, 79, 80, 120, 300} {
		for _, height := range []int{1, 2, 3, 5, 7, 8, 9, 24, 60} {
			u.resize(width, height)
			for _, keys := range [][]string{{"1"}, {"2"}, {"3"}, {"down"}, {"v"}, {"v"}, {"4"}, {"end"}, {"enter"}, {"right"}, {"esc"}, {"?"}, {"esc"}, {"c"}, {"n"}, {"n"}, {"esc"}, {"/"}, {"x"}, {"esc"}} {
				u.press(keys...)
				u.screen()
			}
		}
	}
	require.False(t, u.quit)
	u.resize(30, 8)
	u.press("4", "home")
	u.draws("small")
	u.resize(20, 4)
	u.press("c")
	u.draws("tiny")
}

func TestWhyThereIsNothingToSeeIsSaid(t *testing.T) {
	m := model.New()
	u := sit(t, m)
	u.shows("No target is started")
	u.press("n", "R")
	u.shows("! no target is started")
	become := func(word string) {
		change(t, m, func(up *model.Update) {
			up.Put(model.Row{Kind: model.ResourceManager, ID: "slurm", Attributes: attributes("rmState", word)})
		})
		u.sees(m)
	}
	become("STARTING")
	u.shows("0/1 started", "Starting slurm ...")
	become("STARTED")
	u.shows("1/1 started", "No jobs.")
	change(t, m, func(up *model.Update) {
		up.Put(model.Row{Manager: "slurm", Kind: model.Queue, ID: "batch"})
		up.Put(model.Row{Manager: "slurm", Kind: model.Job, Parent: "batch", ID: "1", Attributes: attributes("userId", "bob")})
	})
	u.sees(m)
	u.press("m")
	u.shows("The filter hides all of 1 jobs; Esc removes it.", "0 of 1 job", "mine")
}

func TestLeaving(t *testing.T) {
	for _, key := range []string{"q", "ctrl+c"} {
		u := sit(t, cluster(t))
		u.press(key)
		require.True(t, u.quit)
	}
	u := sit(t, cluster(t))
	u.press("enter", "q")
	require.False(t, u.quit, "from what lies over the list it goes back")
	u.press("/", "q")
	require.False(t, u.quit, "it is a letter")
	u.press("ctrl+c")
	require.True(t, u.quit)
}

func TestAgesHaveTwoUnits(t *testing.T) {
	for length, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", 90 * time.Minute: "1h30m", 50 * time.Hour: "2d02h", 9000 * time.Hour: "375d00h",
	} {
		require.Equal(t, want, span(length))
	}
}

func TestNodesAreShownByBothStates(t *testing.T) {
	m := cluster(t)
	u := sit(t, m)
	for _, one := range []struct{ state, use, sign string }{
		{"UP", "NONE", "."}, {"UP", "USER_ALLOC_EXCL", "M"}, {"UP", "USER_ALLOC_SHARED", "m"}, {"UP", "OTHER_ALLOC_EXCL", "O"}, {"UP", "OTHER_ALLOC_SHARED", "o"},
		{"UP", "RUNNING_PROCESS", "R"}, {"UP", "EXITED_PROCESS", "x"}, {"DOWN", "NONE", "-"}, {"DOWN", "USER_ALLOC_EXCL", "d"}, {"DOWN", "EXITED_PROCESS", "-"},
		{"ERROR", "RUNNING_PROCESS", "!"}, {"UNKNOWN", "NONE", "?"},
	} {
		change(t, m, func(up *model.Update) {
			up.Put(model.Row{Manager: "local", Kind: model.Node, Parent: "localhost", ID: "localhost", Attributes: attributes("nodeState", one.state, "nodeExtraState", one.use)})
		})
		u.sees(m)
		u.press("3")
		u.shows("local, localhost: 1\n", "localhost     "+one.sign+"\n")
	}
}

func TestTheMapIsWalked(t *testing.T) {
	u := sit(t, cluster(t))
	u.press("3")
	u.shows("localhost  UP")
	u.press("down")
	u.shows("n001  UP  used by me  alloc  CPUs 64/64")
	u.press("down", "right", "right", "right", "right")
	u.shows("n071  DOWN", "disk check")
	u.press("up")
	u.shows("n005  UP")
	u.press("end")
	u.shows("n100")
	u.press("home", "/", "disk", "enter")
	u.shows("1 of 101 nodes", "/disk")
}

func TestAMessageIsShownForAsLongAsItMayMatter(t *testing.T) {
	u := sit(t, cluster(t))
	u.Update(pulseMsg{snapshot: u.snapshot, now: noon, notices: []string{"far has no answer"}})
	require.Contains(t, u.messageLine(), "far has no answer")
	u.Update(pulseMsg{snapshot: u.snapshot, now: noon.Add(30 * time.Second)})
	require.Contains(t, u.messageLine(), "far has no answer")
	u.Update(pulseMsg{snapshot: u.snapshot, now: noon.Add(2 * time.Minute)})
	require.Empty(t, u.messageLine(), "it may have one by now")
	require.Contains(t, u.messages[len(u.messages)-1], "far has no answer", "what was said can be looked at")
}
