package watch

import (
	"errors"
	"testing"

	"github.com/rmctl/rmctl/coalloc"
)

func TestEnsemblesAreShownWithTheirBarriers(t *testing.T) {
	m := cluster(t)
	u := sit(t, m)
	u.press("E")
	u.shows("Ensembles", "No ensemble is running.")
	u.press("esc")
	u.ensembles = []coalloc.Status{{ID: "0123456789ab", Name: "coupled\x1b[2J", State: coalloc.Waiting, Parts: []coalloc.PartStatus{
		{Label: "sim\u202e", Target: "slurm", Kind: coalloc.Required, Gate: coalloc.Held, Count: 4, CheckedIn: 2, State: coalloc.PartActive, JobID: "7"},
	}}}
	u.press("E")
	u.shows("0123456789ab", "WAITING", "the commit", "[#####.....] 2/4", "job 7 runs; 2 of 4 processes have checked in")
	u.lacks("\x1b[2J", "\u202e")
	u.ensembles[0].Parts[0].CheckedIn = 4
	u.sees(m)
	u.ensembles[0].Sets = []coalloc.SetStatus{{Name: "any", Needed: 1, Parts: []string{"x", "y"}, Possible: 1, Waiting: []string{"x"}, Out: []string{"y"}}}
	u.ensembles[0].Parts[0].State, u.ensembles[0].Parts[0].Kind = coalloc.PartFailed, coalloc.Interactive
	u.sees(m)
	u.shows("[##########] 4/4", "set any: 0 of 1 required parts have checked in", "has failed; the release waits")
	u.lacks("\u202e")
	u.ensembles, u.ensemblesFail = nil, errors.New("the record is damaged")
	u.sees(m)
	u.shows("the record is damaged")
}
