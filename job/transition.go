package job

// A Transition is what it means that a job which is known to be in one state is
// seen in another.
type Transition string

// The transitions.
const (
	keeps       Transition = "keeps"       // what is seen says nothing, or less than is known
	Follows     Transition = "follows"     // the usual way of a job; believed
	Returns     Transition = "returns"     // back to waiting after it has begun; believed, since schedulers requeue jobs
	Contradicts Transition = "contradicts" // what has ended does not go on, and ends in one way; not believed
)

// transitions is the table of all transitions but those between two ends, by the
// primary state that is known and the one that is seen.
var transitions = map[Detail]map[Detail]Transition{
	Undetermined: {Undetermined: keeps, Submitted: Follows, Suspended: Follows, Running: Follows, Completed: Follows},
	Submitted:    {Undetermined: keeps, Submitted: Follows, Suspended: Follows, Running: Follows, Completed: Follows},
	Suspended:    {Undetermined: keeps, Submitted: Returns, Suspended: Follows, Running: Follows, Completed: Follows},
	Running:      {Undetermined: keeps, Submitted: Returns, Suspended: Follows, Running: Follows, Completed: Follows},
	Completed:    {Undetermined: keeps, Submitted: Contradicts, Suspended: Contradicts, Running: Contradicts},
}

// precision orders the ways in which a job ends: what is known more precisely does
// not give way to what is known less precisely.
func (d Detail) precision() int {
	switch d {
	case OutputReady:
		return 3
	case Failed, Canceled:
		return 2
	case Completed:
		return 1
	default:
		return 0
	}
}

// TransitionOf returns what it means that a job which was in current is seen in
// another state. Between two ends the more precise one decides.
func TransitionOf(current, seen Detail) Transition {
	if !current.Ended() || !seen.Ended() {
		return transitions[current.Primary()][seen.Primary()]
	}
	switch known, now := current.precision(), seen.precision(); {
	case now > known:
		return Follows
	case now == known && seen != current:
		return Contradicts
	default:
		return keeps
	}
}

// Next returns the detail of a job that was in current when its scheduler reports
// seen, by the table of transitions.
func Next(current, seen Detail) Detail {
	switch TransitionOf(current, seen) {
	case Follows, Returns:
		return seen
	default:
		return current
	}
}
