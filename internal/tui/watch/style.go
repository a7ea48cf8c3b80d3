package watch

import (
	"cmp"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// The colors of states. What colors say is said by words or signs, too.
const (
	styleGood    = "32"
	styleBad     = "31"
	styleWarning = "33"
	styleWaits   = "34"
	styleBegins  = "36"
	styleGone    = "90"
	styleMine    = "1;33"
	styleOthers  = "35"
)

// stateStyles are the colours of states, which are those of the icons of the
// Eclipse PTP.
var stateStyles = map[model.Kind]map[model.State]string{
	model.ResourceManager: {
		vocabulary.StateStarting: styleBegins, vocabulary.StateStarted: styleGood, vocabulary.StateStopping: styleBegins,
		vocabulary.StateStopped: styleGone, vocabulary.StateSuspended: styleWarning, vocabulary.StateError: styleBad,
	},
	model.Queue: {
		vocabulary.StateNormal: styleGood, vocabulary.StateCollecting: styleWarning, vocabulary.StateDraining: styleWarning, vocabulary.StateStopped: styleBad,
	},
	model.Node: {
		vocabulary.StateUp: styleGood, vocabulary.StateDown: styleGone, vocabulary.StateError: styleBad, vocabulary.StateUnknown: styleGone,
	},
	model.Job: {
		vocabulary.StatePending: styleWaits, vocabulary.StateStarted: styleBegins, vocabulary.StateRunning: styleGood, vocabulary.StateSuspended: styleWarning,
		vocabulary.StateTerminated: tui.StyleFaint, vocabulary.StateError: styleBad, vocabulary.StateUnknown: styleGone,
	},
}

func stateStyle(element *model.Element) string {
	if element.Kind() == model.Job {
		detail, _ := element.Value(vocabulary.AttributeJobDetail)
		switch known, _ := job.ParseDetail(detail.Text()); {
		case known.OnHold():
			return styleWarning
		case known == job.Canceled, known == job.Failed:
			return styleBad
		}
	}
	return stateStyles[element.Kind()][element.State()]
}

// A sign is how a node is shown on the map.
type sign int

// The signs, in the order of the legend: what is wrong comes first.
const (
	signError sign = iota
	signDown
	signDownUsed // it is down, and was still used when it was seen last
	signUnknown
	signIdle
	signMine
	signMineShared
	signOthers
	signOthersShared
	signRuns
	signExited
	signs
)

// A sign's letter says the same as its color.
var signLooks = [signs]struct{ letter, style, means string }{
	signError:        {"!", tui.StyleProblem, "in error"},
	signDown:         {"-", styleGone, "down"},
	signDownUsed:     {"d", styleWarning, "down, used"},
	signUnknown:      {"?", styleGone, "unknown"},
	signIdle:         {".", styleGood, "free"},
	signMine:         {"M", styleMine, "mine"},
	signMineShared:   {"m", styleMine, "mine, shared"},
	signOthers:       {"O", styleOthers, "others"},
	signOthersShared: {"o", styleOthers, "others, shared"},
	signRuns:         {"R", "1;32", "with my processes"},
	signExited:       {"x", styleWarning, "with my ended processes"},
}

// nodeUses are the ways in which a node is used: its sign, and by whom in words.
var nodeUses = map[model.State]struct {
	sign sign
	by   string
}{
	vocabulary.NodeUserExclusive:  {signMine, "me"},
	vocabulary.NodeUserShared:     {signMineShared, "me, shared"},
	vocabulary.NodeOtherExclusive: {signOthers, "others"},
	vocabulary.NodeOtherShared:    {signOthersShared, "others, shared"},
	vocabulary.NodeRunningProcess: {signRuns, "my processes"},
	vocabulary.NodeExitedProcess:  {signExited, "my ended processes"},
}

func useOf(node *model.Element) model.State {
	extra, _ := node.Value(vocabulary.AttributeNodeExtraState)
	return model.State(extra.Text())
}

// signOf shows both states of a node by one sign: that of a node that is not up, otherwise
// by whom it is used.
func signOf(node *model.Element) sign {
	use := useOf(node)
	switch node.State() {
	case vocabulary.StateDown:
		if use != vocabulary.NodeNone && use != vocabulary.NodeExitedProcess {
			return signDownUsed
		}
		return signDown
	case vocabulary.StateError:
		return signError
	case vocabulary.StateUnknown:
		return signUnknown
	}
	if known, ok := nodeUses[use]; ok {
		return known.sign
	}
	return signIdle
}

// usedBy says in words by whom a node is used.
func usedBy(node *model.Element) string { return cmp.Or(nodeUses[useOf(node)].by, "nobody") }
