package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
)

// anonymized returns texts as a recording of alice on login1.hpc.site.org would have them.
func anonymized(t *testing.T, prepare func(*Anonymizer), texts ...string) []string {
	t.Helper()
	names := NewAnonymizer([]byte(`<regex expression="Submitted batch job (\d+)"/>`))
	names.Person("alice", "/gpfs/site/home/alice")
	names.Place("login1.hpc.site.org")
	names.learn(kindUserID, "1234")
	if prepare != nil {
		prepare(names)
	}
	for _, text := range texts {
		names.Text([]byte(text))
	}
	names.settle()
	var replaced []string
	for _, text := range texts {
		replaced = append(replaced, string(names.replace([]byte(text))))
	}
	return replaced
}

func TestNamesAreReplaced(t *testing.T) {
	for name, test := range map[string]struct {
		learn    func(*Anonymizer)
		text     string
		expected string
	}{
		"user": {text: "job of alice, alice's alice_job", expected: "job of user, user's user_job"},
		"user within other words": {
			text: "malice alices alice2", expected: "malice alices alice2",
		},
		"user after an escaped line break": {text: `a\nalice`, expected: `a\nuser`},
		"home":                             {text: "/gpfs/site/home/alice/run 2/out", expected: "/home/user/run 2/out"},
		"host, short and full":             {text: "login1 login1.hpc.site.org login12", expected: "login login.example.org login12"},
		"other hosts of the domain":        {text: "www.hpc.site.org", expected: "www.example.org"},
		"record of Slurm": {
			text:     "   UserId=bobby(5678) GroupId=physics(9876) MCS_label=N/A Account=fusion",
			expected: "   UserId=user1(9002) GroupId=group1x(9003) MCS_label=N/A Account=accou1",
		},
		"job ids stay where a user has the same number": {
			text:     "JobId=1234 uid=1234 UserId=alice(1234) 1234 CANCELLED by 1234",
			expected: "JobId=1234 uid=9001 UserId=user(9001) 1234 CANCELLED by 9001",
		},
		"groups as id prints them": {
			learn:    func(a *Anonymizer) { a.learn(kindGroupID, "7001"); a.learn(kindGroup, "plasma") },
			text:     "groups=7001(plasma),27(sudo) mem=7001",
			expected: "groups=9002(group1),27(sudo) mem=7001",
		},
		"nodes keep their numbers": {
			text:     "NodeList=taurus[001-004]\nBatchHost=taurus001\ntaurus12 up",
			expected: "NodeList=hostax[001-004]\nBatchHost=hostax001\nhostax12 up",
		},
		"nodes of a partition": {
			text:     "   Nodes=taurus[1-2],fat3\n   Default=YES AllowGroups=plasma,ALL\nfat07",
			expected: "   Nodes=hostax[1-2],hob3\n   Default=YES AllowGroups=group1,ALL\nhob07",
		},
		"variables in a list": {
			text:     "PBS_O_HOST=bigone,PBS_O_PATH=/bin,LOGNAME=bobby,SHLVL=1",
			expected: "PBS_O_HOST=hostax,PBS_O_PATH=/bin,LOGNAME=user1,SHLVL=1",
		},
		"nodes of a job": {
			learn:    func(a *Anonymizer) { a.learnNodes("taurus[01-02,05],fat07+(thin3:ncpus=2)+big/0*2") },
			text:     "taurus02 fat12|thin3/0 big",
			expected: "hostax02 hob12|hosc3/0 hod",
		},
		"owner of PBS": {
			text:     "    Job_Owner = carol@login1.hpc.site.org\n44.login1.hpc.site.org",
			expected: "    Job_Owner = user1@login.example.org\n44.login.example.org",
		},
		"mail":           {text: "mail to jane.roe@elsewhere.net.", expected: "mail to mail1@example.org."},
		"addresses":      {text: "10.1.2.3 10.1.2.30:8080 fe80::1:2 127.0.0.1", expected: "192.0.2.1 192.0.2.2:8080 2001:db8::3 127.0.0.1"},
		"hardware":       {text: "ether 52:54:00:ab:cd:ef", expected: "ether 00:00:5e:00:00:01"},
		"no addresses":   {text: "12:30:45 v22.05.8.1.2 1-02:03:04 a::b::c", expected: "12:30:45 v22.05.8.1.2 1-02:03:04 a::b::c"},
		"system's names": {text: "UserId=root(0) Account=(null) Account=none", expected: "UserId=root(0) Account=(null) Account=none"},
		"words of the definition": {
			text: "UserId=batch(4444) Submitted batch job 17", expected: "UserId=batch(9002) Submitted batch job 17",
		},
		"asked for before all else": {
			learn: func(a *Anonymizer) { _ = a.Ask("alice's code", "the program") },
			text:  "alice's code of alice", expected: "the program of user",
		},
		"the longest first": {
			learn: func(a *Anonymizer) { a.learn(kindAccount, "fus"); a.learn(kindAccount, "fus-ion") },
			text:  "fus-ion fus", expected: "accoun2 ac1",
		},
		"domains that only the text has": {
			text:     "see https://portal.uni-x.de/help or ares.grid.site.net, not a.out.sh, libc.so.6, slurm.conf, www.example.com",
			expected: "see https://hostax.example.com/help or hosb.site4.example, not a.out.sh, libc.so.6, slurm.conf, www.example.com",
		},
		"telephone numbers": {
			text:     "call +49 351 463-12345 or 555-867-5309, Phone: (0351) 4711 23 on 2026-11-28 at 12:30:45+0100 1.2.3",
			expected: "call +00 000 000-00001 or 000-000-0002, Phone: (0000) 0000 03 on 2026-11-28 at 12:30:45+0100 1.2.3",
		},
		"secrets and comments": {
			text:     "   Comment=password=hunter2 for Eve\n   MyToken=abc123,SECRET_KEY='s3cr3t' TOKEN=(not recorded) AdminComment=call me WorkDir=/x\nhunter2",
			expected: "   Comment=comment1xxxxxxxxxxxxxxxx\n   MyToken=secre2,SECRET_KEY='secre3' TOKEN=(not recorded) AdminComment=commen2 WorkDir=/x\nsecret1",
		},
		"names of jobs": {
			text:     "JobId=5 JobName=secret plan\n   Job_Name = fusion_study\n<JB_name>cosmo</JB_name> {\"job_name\":\"melt-down\"}\nfusion_s R cosmo.o12 JobName=batch",
			expected: "JobId=5 JobName=job1xxxxxxx\n   Job_Name = job2xxxxxxxx\n<JB_name>job3x</JB_name> {\"job_name\":\"job4xxxxx\"}\njob2xxxx R job3x.o12 JobName=batch",
		},
		"formats and references": {
			text:     "squeue --Format=NodeList:@X,SubmitTime:@X,Comment:%k JobName=${name}",
			expected: "squeue --Format=NodeList:@X,SubmitTime:@X,Comment:%k JobName=${name}",
		},
		"names in JSON and XML": {
			text:     `{"user_name": "bobby", "account":"fusion"} <JB_owner>carol</JB_owner>`,
			expected: `{"user_name": "user1", "account":"accou1"} <JB_owner>user2</JB_owner>`,
		},
		"a placeholder that is there already is not taken": {
			text: "UserId=bobby(5678) user1", expected: "UserId=user2(9002) user1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.expected, anonymized(t, test.learn, test.text)[0])
		})
	}
}

func TestColumnsStayInPlace(t *testing.T) {
	text := strings.Join([]string{
		"USER      HOST                       ST  TIME",
		"alice     login1.hpc.site.org        R   0:01",
		"   alice  login1.hpc.site.org /x  y  R   0:01",
		"bob       elsewhere                  R   0:01",
	}, "\n")
	replaced := strings.Split(anonymized(t, nil, text)[0], "\n")
	require.Equal(t, []string{
		"USER      HOST                       ST  TIME",
		"user      login.example.org          R   0:01",
		"   user   login.example.org /x    y  R   0:01",
		"bob       elsewhere                  R   0:01",
	}, replaced)
}

func TestNamesThatColumnsCutOffAreReplaced(t *testing.T) {
	replaced := anonymized(t, func(a *Anonymizer) { a.learn(kindUser, "maximiliane") }, "maximili R\nmaximil+ R\nmaximiliane R\nmaxim R")
	require.Equal(t, "user1xxx R\nuser1xx+ R\nuser1xxxxxx R\nmaxim R", replaced[0])
}

func TestOneNameHasOnePlaceholderInAllTexts(t *testing.T) {
	replaced := anonymized(t, nil, "wilma R", "UserId=wilma(4321)", "/home/wilma/x")
	require.Equal(t, []string{"user1 R", "UserId=user1(9002)", "/home/user1/x"}, replaced)
}

func TestReplacementsAreCounted(t *testing.T) {
	names := NewAnonymizer([]byte("debug"))
	names.Person("alice", "/home/alice")
	names.learnArguments([]string{"sbatch", "-A", "fusion", "--account=debug", "job.sh"})
	text := []byte("alice alice fusion debug")
	names.Text(text)
	names.settle()
	names.replace(text)
	require.Equal(t, []Replacement{
		{Kind: kindAccount, Old: "fusion", New: "accou1", Count: 1},
		{Kind: kindUser, Old: "alice", New: "user", Count: 2},
	}, names.Replacements())
	require.Equal(t, []KeptName{{Kind: kindAccount, Name: "debug", Why: "the definition uses the same word"}}, names.Kept())
}

func TestWhatStaysIsKeptForReview(t *testing.T) {
	names := NewAnonymizer([]byte("debug"))
	names.Person("alice", "/home/alice")
	text := []byte("Partition=astro QOS=normal WorkDir=/scratch/astro/run1\nStdOut=/home/alice/out /usr/bin/env /scratch/astro/run2")
	names.Text(text)
	names.settle()
	names.replace(text)
	const why = "a definition may depend on it"
	require.Equal(t, []KeptName{{"queue", "astro", why}, {"path", "/scratch/astro", why}}, names.Kept())
}

func TestAttributesOfAccounts(t *testing.T) {
	for name, is := range map[string]bool{"account": true, "Account_Name": true, "job.project": true, "accounting": false, "queue": false} {
		require.Equal(t, is, isAccount(name), name)
	}
}

func FuzzAnonymizer(f *testing.F) {
	f.Add([]byte("alice login1.hpc.site.org 10.1.2.3 UserId=bob(1234)"), "bob")
	f.Add([]byte("a@b.cd  ::1 fe80::1 /home/x\xff"), "x-y")
	f.Add([]byte("NodeList=cn[1-3] Account=a,b,c"), "")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		names := NewAnonymizer()
		names.Person("alice", "/home/alice")
		names.Place("login1.site.org")
		names.learn(kindAccount, name)
		names.Text(text)
		names.settle()
		replaced := string(names.replace(text))
		require.NotContains(t, strings.Fields(replaced), "alice")
		require.Equal(t, strings.Count(string(text), "\n"), strings.Count(replaced, "\n"))
	})
}

func TestReplacedNamesDoNotChangeWhatDefinitionsRead(t *testing.T) {
	folders, err := cases.Find("../../testdata/slurm", "../../testdata/pbs")
	require.NoError(t, err)
	runner := &cases.Runner{}
	vocabularies := map[*config.Definition]map[string]bool{}
	replaced := 0
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "flow.toml")); err == nil || strings.HasSuffix(folder, "-with-blanks") {
			continue // a name of two words is two names
		}
		c, err := cases.Read(folder)
		require.NoError(t, err)
		before, err := runner.Evaluate(t.Context(), c)
		require.NoError(t, err)
		definition, err := runner.Load(c.Definition, folder)
		require.NoError(t, err)
		if vocabularies[definition] == nil {
			vocabularies[definition] = NewAnonymizer(definition.Sources...).vocabulary
		}
		names := NewAnonymizer()
		names.vocabulary = vocabularies[definition]
		names.Person("rmtest", "/home/rmtest")
		names.Place("pbs01")
		for _, text := range [][]byte{c.Stdout, c.Stderr} {
			names.Text(text)
		}
		names.settle()
		c.Stdout, c.Stderr = names.replace(c.Stdout), names.replace(c.Stderr)
		c.Job = names.replaceText(c.Job)
		after, err := runner.Evaluate(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, before.Status.State, after.Status.State, folder)
		require.Equal(t, before.Status.Outcome, after.Status.Outcome, folder)
		if before.Job != nil {
			expected := *before.Job
			expected.ID, expected.ShortID = names.replaceText(expected.ID), names.replaceText(expected.ShortID)
			require.Equal(t, &expected, after.Job, folder)
		}
		replaced += len(names.Replacements())
	}
	require.Greater(t, replaced, 100)
}
