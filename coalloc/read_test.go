package coalloc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
)

const coupled = `name = "coupled"
hold_first = true
commit_limit = "2h"

[part.ocean]
target = "slurm"
count = 4
executable = "./ocean"
arguments = ["-v", "a b"]
directory = "/scratch"
start_limit = "1h30m"
check_in_limit = "5m"
attributes = { queue = "fast", wallTime = "2h" }
environment = { ROLE = "ocean" }

[part.air]
target = "sge"
kind = "interactive"
barrier = "program"
job_type = "mpi"
executable = "./air"
debug = true
independent = true

[part.viewer]
target = "local"
barrier = "none"
executable = "./viewer"

[part.spare]
target = "local"
executable = "./air"

[set.airs]
parts = ["air", "spare"]
atLeast = 1
`

func read(t *testing.T, text string) *coalloc.Request {
	t.Helper()
	r, err := coalloc.ReadRequest(context.Background(), []byte(text), coalloc.Sources{})
	require.NoError(t, err)
	return r
}

func TestARequestInTOMLHasItsPartsInOrder(t *testing.T) {
	require.Equal(t, &coalloc.Request{
		Name: "coupled", HoldFirst: true, Limits: coalloc.Limits{Commit: 2 * time.Hour},
		Parts: []coalloc.Part{
			{Label: "ocean", Target: "slurm", Kind: coalloc.Required, Gate: coalloc.Held, Count: 4, JobType: coalloc.Multiple, Start: 90 * time.Minute, CheckIn: 5 * time.Minute,
				Submission: job.Submission{
					Executable: "./ocean", Arguments: []string{"-v", "a b"}, Directory: "/scratch",
					Values:      []job.Assignment{{Name: "queue", Value: "fast"}, {Name: "wallTime", Value: "2h"}},
					Environment: job.Environment{Variables: []job.Variable{{Name: "ROLE", Value: "ocean"}}},
				}},
			{Label: "air", Target: "sge", Kind: coalloc.Interactive, Gate: coalloc.Program, Count: 1, JobType: coalloc.MPI, Independent: true, Submission: job.Submission{Executable: "./air", Debug: true}},
			{Label: "viewer", Target: "local", Kind: coalloc.Optional, Gate: coalloc.NoGate, Count: 1, JobType: coalloc.Multiple, Independent: true, Submission: job.Submission{Executable: "./viewer"}},
			{Label: "spare", Target: "local", Kind: coalloc.Interactive, Gate: coalloc.Held, Count: 1, JobType: coalloc.Multiple, Submission: job.Submission{Executable: "./air"}},
		},
		Sets: []coalloc.Set{{Name: "airs", Labels: []string{"air", "spare"}, AtLeast: 1}},
	}, read(t, coupled))
}

func TestARequestInJSONIsTheSame(t *testing.T) {
	inTOML := read(t, "[part.b]\ntarget = 'x'\nexecutable = '/y'\n[part.a]\ntarget = 'x'\ncount = 2\nexecutable = '/z'\n")
	require.Equal(t, inTOML, read(t, ` {"part": {"b": {"target": "x", "executable": "/y"}, "a": {"target": "x", "count": 2, "executable": "/z"}}}`))
}

func TestAllMistakesOfARequestHaveTheirPlaces(t *testing.T) {
	_, err := coalloc.ReadRequest(context.Background(), []byte(`commit_limit = "soon"
part.x = 5
[part.a]
target = "x"
count = 0
executable = "/a"
kind = "strict"
colour = "red"
attributes = { queue = "a\nb" }
[part.b]
executable = "#SBATCH -p x"
arguments = ["fine\nlines", "x\n  #$ -q all.q"]
environment = { X = "\u0000" }
barrier = "none"
independent = false
start_limit = "-5m"
launch = "saved"
[set.s]
parts = ["a", "c"]
`), coalloc.Sources{})
	require.Error(t, err)
	require.Equal(t, strings.TrimSpace(`
line 1, column 16: invalid time "soon": write numbers with units, such as "1h30m", up to "8784h"
line 2, column 1: part "x" is an integer, but must be a table
line 5, column 9: "count" is 0, but must be a whole number of at least 1
line 7, column 8: "kind" is "strict", but must be required, interactive or optional
line 8, column 1: unknown setting "colour"
choose one of target, job_type, problem, count, kind, barrier, independent, start_limit, check_in_limit, tab, executable, arguments, directory, script, debug, track, rank_from, attributes, set, environment, launch
line 9, column 14: attribute "queue": "a\nb" has more than one line
line 10, column 7: part "b" has no target
line 11, column 14: "#SBATCH -p x" begins as an option for a scheduler
line 12, column 29: "x\n  #$ -q all.q" has a line that begins as an option for a scheduler
line 13, column 21: "\x00" holds a zero byte, which no program can be given
line 15, column 15: a part without a barrier cannot exchange messages: other parts would wait for it
set independent = true
line 16, column 15: invalid time "-5m": write numbers with units, such as "1h30m", up to "8784h"
line 17, column 10: launch configurations cannot be used here
line 19, column 15: there is no part "c"
`), err.Error())
}

func TestRequestsThatCannotRunAreRefused(t *testing.T) {
	for text, reason := range map[string]string{
		"":                        "the request has no parts",
		"name = 'x'":              "the request has no parts",
		"[part.a]\ntarget = 'x'":  `part "a" has no executable`,
		"[part.'']\ntarget = 'x'": "a part has no label",
		"[part.a]\ntarget = \"x\\u001b[2J\"\nexecutable = '/x'": "has control characters",
		"[[part]]\ntarget = 'x'":                                "a list of tables",
		"[part.\"a\\tb\"]":                                      "characters that cannot be printed",
		"[part.a]\ntarget = 'x'\nscript = 'y'":                  "cannot hold the program of your own script",
		"[part.a]\ntarget = 'x'\nexecutable = 'y'\n[set.s]\nparts = ['a']\nat_least = 2": "at least 2 of them cannot check in",
		"[part.a]\ntarget = 'x'\nexecutable = 'y'\n[set.\"s\\nt\"]\nparts = ['a']":       "a name has one line",
		"[part.a]\ntarget = 'x'\nexecutable = 'y'\n[set.s]\nparts = ['a', 'a']":          `part "a" twice`,
	} {
		_, err := coalloc.ReadRequest(context.Background(), []byte(text), coalloc.Sources{})
		require.ErrorContains(t, err, reason, text)
	}
}

func TestAPartTakesWhatALaunchConfigurationHas(t *testing.T) {
	from := coalloc.Sources{Launch: func(name string) (*settings.LaunchConfiguration, error) {
		if name != "saved" {
			return nil, errors.New("unknown")
		}
		return &settings.LaunchConfiguration{Name: name, Target: "slurm", Submission: job.Submission{Executable: "/saved", Directory: "/tmp"}}, nil
	}}
	r, err := coalloc.ReadRequest(context.Background(), []byte("[part.a]\nlaunch = 'saved'\ndirectory = '/home'"), from)
	require.NoError(t, err)
	require.Equal(t, "slurm", r.Parts[0].Target)
	require.Equal(t, job.Submission{Executable: "/saved", Directory: "/home"}, r.Parts[0].Submission)
	_, err = coalloc.ReadRequest(context.Background(), []byte("[part.a]\nlaunch = 'other'"), from)
	require.ErrorContains(t, err, "line 2, column 10: unknown")
}

// randomRequest returns a valid request.
func randomRequest(random *rand.Rand) *coalloc.Request {
	texts := []string{"x", "a b", `"quoted"`, "it's", "$(HOME)", "ümläut", "-v", "#1", "(* no *)", "^a^", "a=b", "100%", `back\slash`, "<>&|+"}
	text := func() string { return texts[random.IntN(len(texts))] + texts[random.IntN(len(texts))] }
	limit := func() time.Duration { return time.Duration(random.IntN(3)) * 90 * time.Minute }
	r := &coalloc.Request{Name: text(), HoldFirst: random.IntN(2) == 0, Limits: coalloc.Limits{Commit: limit()}}
	for i := range 1 + random.IntN(5) {
		p := coalloc.Part{
			Label: fmt.Sprint(i, text()), Target: text(), Count: 1 + random.IntN(9), Start: limit(), CheckIn: limit(),
			Kind:    []coalloc.Kind{coalloc.Required, coalloc.Interactive, coalloc.Optional}[random.IntN(3)],
			Gate:    []coalloc.Gate{coalloc.Held, coalloc.Program, coalloc.NoGate}[random.IntN(3)],
			JobType: []coalloc.JobType{coalloc.Multiple, coalloc.Single, coalloc.MPI}[random.IntN(3)],
		}
		p.Independent = p.Gate == coalloc.NoGate || random.IntN(2) == 0
		if p.JobType == coalloc.Single {
			p.Count = 1
		}
		p.Submission = job.Submission{Executable: text(), Debug: random.IntN(3) == 0, Track: random.IntN(3) == 0}
		for range random.IntN(4) {
			p.Submission.Arguments = append(p.Submission.Arguments, text()+"\n"+text())
		}
		if random.IntN(2) == 0 {
			p.Submission.Directory, p.Submission.Tab, p.Submission.RankFrom = text(), text(), "RANK"
		}
		for _, name := range []string{"a", "list", "list", "nodes", "wallTime"} {
			if random.IntN(3) > 0 {
				p.Submission.Values = append(p.Submission.Values, job.Assignment{Name: name, Value: text()})
			}
		}
		for _, name := range []string{"A", "B"} {
			if random.IntN(3) > 0 {
				p.Submission.Environment.Variables = append(p.Submission.Environment.Variables, job.Variable{Name: name, Value: text()})
			}
		}
		r.Parts = append(r.Parts, p)
	}
	if len(r.Parts) > 2 {
		r.Sets = []coalloc.Set{{Name: text(), Labels: []string{r.Parts[0].Label, r.Parts[2].Label}, AtLeast: 1 + random.IntN(2)}}
	}
	return r
}

func TestRequestsAreReadFromTOMLAsTheyWereWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		r := randomRequest(random)
		require.NoError(t, r.Check())
		text, err := r.TOML()
		require.NoError(t, err)
		again, err := coalloc.ReadRequest(context.Background(), text, coalloc.Sources{})
		require.NoError(t, err, "%s", text)
		require.Equal(t, r, again, "%s", text)
	}
}

func FuzzReadRequest(f *testing.F) {
	for _, text := range []string{
		coupled,
		`{"part": {"b": {"target": "x", "executable": "/y"}, "a": {"target": "x", "count": 2, "executable": "/z"}}}`,
		"commit_limit = '1h30m'\n[part.\"a b\"]\ntarget = 't'\nbarrier = 'none'\nscript = '''\necho \\x\n'''\ncheck_in_limit = '90s'",
		"[part.a]\ntarget = 't'\nexecutable = '/x'\ncount = 0\nkind = 'strict'\ncolour = 1\n[part.b]\n[set.s]\nparts = ['c']\natLeast = 2",
		"[part.a]\ntarget = 't'\nexecutable = '/x'\nenvironment = { A = \"b c\", d = '' }\nset = { \"rm.list\" = ['a', 'b'] }\ntrack = true\nrank_from = 'R'",
		"+(&(resourceManagerContact=h)(label=a)(executable=/x)(environment=(A b)))",
		`{"part": {"a": {"target": "\ud800", "launch": "x"}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := coalloc.ReadRequest(context.Background(), text, coalloc.Sources{})
		if err != nil {
			if coalloc.FormatOf(text) != coalloc.JSON {
				requirePlaces(t, err)
			}
			return
		}
		require.NoError(t, r.Check())
		written, err := r.TOML()
		require.NoError(t, err)
		again, err := coalloc.ReadRequest(context.Background(), written, coalloc.Sources{})
		require.NoError(t, err, "%s", written)
		require.Equal(t, r, again, "%s", written)
		once, err := again.TOML()
		require.NoError(t, err)
		require.Equal(t, string(written), string(once))
	})
}

// requirePlaces requires that an error has the place of the mistake, unless it concerns the whole text.
func requirePlaces(t *testing.T, err error) {
	t.Helper()
	for _, whole := range []string{"the request has no parts", "the request has more than"} {
		if strings.Contains(err.Error(), whole) {
			return
		}
	}
	require.Regexp(t, `line \d+, column \d+: .`, err.Error())
}
