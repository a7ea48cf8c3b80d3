package coalloc_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
)

// problemsOf returns the error of a request in RSL, and the problems of its parts.
func problemsOf(text string, from coalloc.Sources) string {
	r, err := coalloc.ReadRequest(context.Background(), []byte(text), from)
	if err != nil {
		return err.Error()
	}
	var problems []string
	for _, p := range r.Parts {
		if p.Problem != "" {
			problems = append(problems, p.Problem)
		}
	}
	return strings.Join(problems, "\n")
}

func TestComponentsThatGRAMOrACoallocatorRefusedHaveProblems(t *testing.T) {
	for name, reason := range map[string]string{
		"X37": "component 1 must be a conjunction, &(…)(…): GRAM error 48",
		"X38": `"maxWallTime" has the operator >=: only = is supported: GRAM error 48`,
		"X39": "a component must be a flat conjunction without &(…) in it: GRAM error 48",
		"X40": `"flavour": unknown attribute; rm.NAME sets an attribute of the definition: GRAM error 1`,
		"X41": `"count": invalid value "two": enter a whole number of at least 1: GRAM error 14`,
		"X42": `"environment": it must have pairs, such as (NAME VALUE): GRAM error 54`,
		"X43": "a component has no executable: GRAM error 81",
		"X44": "line 1, column 1: a request must be a multi-request",
		"X45": "line 1, column 3: a component has no resourceManagerContact",
		"X46": `"subjobStartType": invalid value "sometimes": use strict-barrier, loose-barrier, no-barrier, required, interactive or optional`,
		"X47": `component 2 has the label "a" of component 1`,
	} {
		archive, err := txtar.ParseFile(filepath.Join("..", "rsl", "testdata", "refused", name+".txtar"))
		require.NoError(t, err)
		text := strings.TrimSpace(string(archive.Files[0].Data))
		if strings.HasPrefix(string(archive.Comment), "stage G") { // a component alone
			text = "+(" + strings.Replace(text, "&", "&(resourceManagerContact=h)", 1) + ")"
		}
		require.Contains(t, problemsOf(text, coalloc.Sources{}), reason, name)
	}
}

func TestARequestInRSLHasTheMeaningOfGRAMAndDUROC(t *testing.T) {
	require.Equal(t, []coalloc.Part{
		{Label: "m", Target: "hpc1", Kind: coalloc.Required, Gate: coalloc.Held, Count: 1, JobType: coalloc.Multiple, Submission: job.Submission{Executable: "/x/m"}},
		{Label: "w", Target: "hpc2", Kind: coalloc.Interactive, Gate: coalloc.Held, Count: 8, JobType: coalloc.MPI, Start: time.Hour, Submission: job.Submission{
			Executable: "/x/w", Arguments: []string{"a b", "c"}, Directory: "/d",
			Values: []job.Assignment{
				{Name: "queue", Value: "q"}, {Name: "account", Value: "p"}, {Name: "stdin", Value: "/in"}, {Name: "stdout", Value: "out"},
				{Name: "ntasks-per-core", Value: "2"}, {Name: "nodes", Value: "4"}, {Name: "wallTime", Value: "90m"}, {Name: "memory", Value: "200MiB"}, {Name: "mail", Value: "end:me@here"},
			},
			Environment: job.Environment{Variables: []job.Variable{{Name: "ROLE", Value: "w"}}},
		}},
		{Label: "part-3", Target: "hpc3", Kind: coalloc.Optional, Gate: coalloc.NoGate, Independent: true, Count: 1, JobType: coalloc.Single, Submission: job.Submission{
			Executable: "/s", Values: []job.Assignment{{Name: "tasks", Value: "16"}},
		}},
		{Label: "part-4", Target: "hpc4", Kind: coalloc.Optional, Gate: coalloc.Held, Independent: true, Count: 1, JobType: coalloc.Multiple, Submission: job.Submission{Executable: "/s"}},
	}, read(t, `(* four parts *) +(&(resourceManagerContact=hpc1)(label=m)(count=1)(executable=/x/m))
		(&(resource_Manager_Contact=hpc2)(label=w)(count=8)(subjobStartType=loose-barrier)(jobType=MPI)(executable=file:///x/w)(arguments="a b" c)(directory=/d)
			(environment=(ROLE w))(hostCount=4)(maxTime=10)(MAX_WALL_TIME=90)(maxWallTime=1)(minMemory=50)(maxMemory=100)(queue=q)(project=p)(stdin=/in)(stdout=out)
			(rm.ntasks-per-core=2)(startLimit=1h)(emailAddress="me@here")(emailOnTermination=yes)(saveState=yes)(gramMyJob=collective))
		(&(resourceManagerContact=hpc3)(count=16)(jobType=single)(executable=/s)(subjobStartType=no-barrier))
		(&(resourceManagerContact=hpc4)(executable=/s)(subjobStartType=optional)(subjobCommsType=independent))`).Parts)
}

func TestSettingsOfAWholeRequestInRSLAreAroundIt(t *testing.T) {
	r := read(t, `&(name=n)(holdFirst=yes)(commitLimit=2h)(alternatives=(1 a b))(rsl_substitution=(D /d))
		(+(&(resourceManagerContact=h)(label=a)(executable=$(D)/x))(&(resourceManagerContact=h)(label=b)(executable=/y)(dryRun=yes)))`)
	require.Equal(t, "n", r.Name)
	require.True(t, r.HoldFirst)
	require.True(t, r.DryRun)
	require.Equal(t, 2*time.Hour, r.Limits.Commit)
	require.Equal(t, []coalloc.Set{{Name: "1", Labels: []string{"a", "b"}, AtLeast: 1}}, r.Sets)
	require.Equal(t, "/d/x", r.Parts[0].Submission.Executable)
	require.Equal(t, coalloc.Interactive, r.Parts[0].Kind)
}

func TestEachComponentHasTheVariablesOfItsTarget(t *testing.T) {
	lookups := 0
	from := coalloc.Sources{Variables: func(_ context.Context, target string) (map[string]string, error) {
		lookups++
		if target == "down" {
			return nil, errors.New("cannot connect")
		}
		return map[string]string{"HOME": "/home/" + target, "LOGNAME": "u"}, nil
	}}
	r, err := coalloc.ReadRequest(context.Background(), []byte(`+(&(resourceManagerContact=a)(executable=$(HOME)/x))(&(resourceManagerContact=b)(executable=$(HOME)/x)(userName=u))
		(&(rsl_substitution=(T c)(E /e))(resourceManagerContact=$(T))(executable=$(E)))(&(resourceManagerContact=down)(label=l)(executable=$(HOME)/x))
		(&(resourceManagerContact=a)(executable=$(E))(userName=other))`), from)
	require.NoError(t, err)
	require.Equal(t, "/home/a/x", r.Parts[0].Submission.Executable)
	require.Equal(t, "/home/b/x", r.Parts[1].Submission.Executable)
	require.Equal(t, "/e", r.Parts[2].Submission.Executable)
	require.Equal(t, "c", r.Parts[2].Target)
	require.Equal(t, "l", r.Parts[3].Label)
	require.Equal(t, "cannot connect: GRAM error 39", r.Parts[3].Problem)
	require.Contains(t, r.Parts[4].Problem, `variable "E" is undefined: GRAM error 39`)
	require.Equal(t, 3, lookups, "a component that defines its variables needs no connection, and each target is asked once")
}

func TestContactsMeanTargets(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.TargetsFile), []byte(`
[targets.hpc1]
definition = "slurm"
transport = "ssh"
host = "login.example.org"
[targets.hpc2]
definition = "gridengine"
transport = "ssh"
host = "u@login.example.org"
`), 0o600))
	targets, err := settings.LoadTargets(settings.Folders{User: folder})
	require.NoError(t, err)
	for contact, target := range map[string]string{
		"hpc1": "hpc1", "local": "local", "slurm@login.example.org": "hpc1", "gridengine@login.example.org:22": "hpc2",
		"login.example.org/jobmanager-sge": "hpc2", "login.example.org:2119/jobmanager-slurm:/O=Grid/CN=x": "hpc1", "hpc2:2119": "hpc2", "hpc2::/O=Grid": "hpc2",
		"localhost/jobmanager-lsf": "lsf",
	} {
		r, err := coalloc.ReadRequest(context.Background(), []byte(`+(&(resourceManagerContact="`+contact+`")(executable=/x))`), coalloc.Sources{Targets: targets})
		require.NoError(t, err)
		require.Empty(t, r.Parts[0].Problem, contact)
		require.Equal(t, target, r.Parts[0].Target, contact)
	}
	for contact, reason := range map[string]string{"login.example.org": "means several targets: hpc1, hpc2", "nowhere": `unknown target "nowhere"`, "pbs@login.example.org": "unknown target"} {
		require.Contains(t, problemsOf(`+(&(resourceManagerContact="`+contact+`")(executable=/x))`, coalloc.Sources{Targets: targets}), reason)
	}
}

func TestWhatRSLCannotExpressHereIsAProblemOfItsPart(t *testing.T) {
	for relation, reason := range map[string]string{
		"(maxCpuTime=5)":           "cannot express it: GRAM error 36",
		"(fileStageIn=(a b))":      "cannot express it: GRAM error 36",
		"(stdout=gsiftp://h/x)":    `rmctl does not stage files: "gsiftp://h/x": GRAM error 36`,
		"(stdout=(a tag))":         "it must have one value: GRAM error 65",
		"(jobType=condor)":         "GRAM error 26",
		"(jobType=many)":           "GRAM error 19",
		"(maxWallTime=0)":          "GRAM error 102",
		"(restart=x)":              "GRAM error 138",
		"(dryRun=maybe)":           "GRAM error 53",
		"(arguments=(a b))":        "GRAM error 50",
		"(flavour=a)(hostCount=x)": `"hostCount": invalid value "x": enter a whole number`,
		"(subjobStartType=no-barrier)(subjobCommsType=blocking-join)": "a part without a barrier cannot exchange messages",
		"(label='a\n')":            "characters that cannot be printed",
		"(queue='a\n#SBATCH -x')":  "has more than one line",
		"(arguments='a\n#PBS -x')": "begins as an option for a scheduler",
		"(executable=\"/b\")":      "",
	} {
		found := problemsOf("+(&(resourceManagerContact=h)(executable=/x)"+relation+")", coalloc.Sources{})
		require.Contains(t, found, reason, relation)
		require.Equal(t, reason == "", found == "", "%s: %s", relation, found)
	}
}

func TestRequestsAreReadFromRSLAsTheyWereWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		r := randomRequest(random)
		for i := range r.Sets {
			r.Sets[i].Name = "1" // RSL has no names for them
		}
		text := r.RSL()
		again, err := coalloc.ReadRequest(context.Background(), []byte(text), coalloc.Sources{})
		require.NoError(t, err, "%s", text)
		require.Equal(t, r, again, "%s", text)
	}
}

func FuzzReadRSL(f *testing.F) {
	f.Add(`+(&(resourceManagerContact=h)(label=a)(executable=$(HOME /)/x)(count=3)(jobType=single)(environment=(A b))(rm.list=a b))`)
	f.Add(`&(name=x)(alternatives=(1 a))(+(&(resourceManagerContact=h)(label=a)(executable=/x)(maxTime=3)(emailAddress=a)))`)
	f.Add(`+(&(resourceManagerContact=h)(flavour=1)(&(a=1)))(|(a=b))`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := coalloc.ReadRequest(context.Background(), []byte(text), coalloc.Sources{})
		if err != nil || coalloc.FormatOf([]byte(text)) != coalloc.RSL {
			return
		}
		require.NoError(t, r.Check())
		written := r.RSL()
		again, err := coalloc.ReadRequest(context.Background(), []byte(written), coalloc.Sources{})
		require.NoError(t, err, "%s", written)
		require.Equal(t, written, again.RSL())
	})
}

func TestPartsForEditsMayBeASingleComponent(t *testing.T) {
	for _, text := range []string{
		"&(resourceManagerContact=h)(label=a)(executable=/x)", "+(&(resourceManagerContact=h)(label=a)(executable=/x))",
		"[part.a]\ntarget = 'h'\nexecutable = '/x'",
	} {
		parts, err := coalloc.ReadParts(context.Background(), []byte(text), coalloc.Sources{})
		require.NoError(t, err, text)
		require.Equal(t, []coalloc.Part{{Label: "a", Target: "h", Kind: coalloc.Required, Gate: coalloc.Held, Count: 1, JobType: coalloc.Multiple, Submission: job.Submission{Executable: "/x"}}}, parts)
	}
	for text, reason := range map[string]string{
		"name = 'x'\n[part.a]\ntarget = 'h'\nexecutable = '/x'":    "not settings of the whole request",
		"&(name=x)(+(&(resourceManagerContact=h)(executable=/x)))": "not settings of the whole request",
		"&(label=a)(executable=/x)":                                "no resourceManagerContact",
		"(label=a)":                                                "line 1, column 1",
	} {
		_, err := coalloc.ReadParts(context.Background(), []byte(text), coalloc.Sources{})
		require.Error(t, err, text)
		require.ErrorContains(t, err, reason)
	}
}
