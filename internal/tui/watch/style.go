package watch

import (
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/state"
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
		model.StateStarting: styleBegins, model.StateStarted: styleGood, model.StateStopping: styleBegins,
		model.StateStopped: styleGone, model.StateSuspended: styleWarning, model.StateError: styleBad,
	},
	model.Queue: {
		model.StateNormal: styleGood, model.StateCollecting: styleWarning, model.StateDraining: styleWarning, model.StateStopped: styleBad,
	},
	model.Node: {
		model.StateUp: styleGood, model.StateDown: styleGone, model.StateError: styleBad, model.StateUnknown: styleGone,
	},
	model.Job: {
		model.StatePending: styleWaits, model.StateStarted: styleBegins, model.StateRunning: styleGood, model.StateSuspended: styleWarning,
		model.StateTerminated: tui.StyleFaint, model.StateError: styleBad, model.StateUnknown: styleGone,
	},
}

func stateStyle(element *model.Element) string {
	if element.Kind() == model.Job {
		detail, _ := element.Value(monitor.AttributeJobDetail)
		switch known, _ := state.Parse(detail.Text()); {
		case known.OnHold():
			return styleWarning
		case known == state.Canceled:
			return styleBad
		}
	}
	return stateStyles[element.Kind()][element.State()]
}

// A sign is how a node is shown on the map.
type sign int

// The signs, in the order in which the legend tells them: what is wrong comes first.
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

// A sign's letter tells what its colour tells.
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

// signOf tells both states of a node by one sign: a node that is not up shows
// that, any other one by whom it is used.
func signOf(node *model.Element) sign {
	extra, _ := node.Value(model.AttributeNodeExtraState)
	use := model.State(extra.Text())
	switch node.State() {
	case model.StateDown:
		if use != model.NodeNone && use != model.NodeExitedProcess {
			return signDownUsed
		}
		return signDown
	case model.StateError:
		return signError
	case model.StateUnknown:
		return signUnknown
	}
	switch use {
	case model.NodeUserExclusive:
		return signMine
	case model.NodeUserShared:
		return signMineShared
	case model.NodeOtherExclusive:
		return signOthers
	case model.NodeOtherShared:
		return signOthersShared
	case model.NodeRunningProcess:
		return signRuns
	case model.NodeExitedProcess:
		return signExited
	}
	return signIdle
}

// usedBy says in words by whom a node is used.
func usedBy(node *model.Element) string {
	extra, _ := node.Value(model.AttributeNodeExtraState)
	switch model.State(extra.Text()) {
	case model.NodeUserExclusive:
		return "me"
	case model.NodeUserShared:
		return "me, shared"
	case model.NodeOtherExclusive:
		return "others"
	case model.NodeOtherShared:
		return "others, shared"
	case model.NodeRunningProcess:
		return "my processes"
	case model.NodeExitedProcess:
		return "my ended processes"
	}
	return "nobody"
}
