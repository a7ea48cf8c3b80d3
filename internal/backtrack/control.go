package backtrack

func jump(r *run, i *instruction) bool {
	r.here = i.first
	return true
}

// branch goes straight on, and elsewhere on the way back.
func branch(r *run, _ *instruction) bool {
	r.pushWay(r.at)
	return r.advance(true)
}

func branchOther(r *run, i *instruction) bool {
	r.at = r.popWay()
	return jump(r, i)
}

func setMark(r *run, _ *instruction) bool {
	r.mark(r.at)
	r.pushWay()
	return r.advance(true)
}

func setNoMark(r *run, _ *instruction) bool {
	r.mark(-1)
	r.pushWay()
	return r.advance(true)
}

func dropMark(r *run, _ *instruction) bool {
	r.unmark()
	return false
}

// returnToMark ends a lookaround.
func returnToMark(r *run, _ *instruction) bool {
	mark := r.unmark()
	r.pushWay(mark)
	r.at = mark
	return r.advance(true)
}

func restoreMark(r *run, _ *instruction) bool {
	r.mark(r.popWay())
	return false
}

func captureMark(r *run, i *instruction) bool {
	mark := r.unmark()
	r.capture(i.first, mark, r.at)
	r.pushWay(mark)
	return r.advance(true)
}

func uncaptureMark(r *run, i *instruction) bool {
	r.uncapture(len(r.replaced) - 1)
	return restoreMark(r, i)
}

// loop ends a round: another one follows unless this one read nothing.
func loop(r *run, i *instruction) bool {
	mark := r.unmark()
	if r.at == mark {
		r.pushWay2(mark)
		return r.advance(true)
	}
	r.pushWay(mark, r.at)
	r.mark(r.at)
	return jump(r, i)
}

func loopLeave(r *run, _ *instruction) bool {
	mark, at := r.popWay2()
	r.unmark()
	r.at = at
	r.pushWay2(mark)
	return r.advance(true)
}

// lazyLoop ends a round, or stands before the first; another one follows on
// the way back, unless this one read nothing.
func lazyLoop(r *run, _ *instruction) bool {
	mark := r.unmark()
	switch {
	case r.at == mark:
		r.pushWay2(mark, 0)
	case mark == -1:
		r.pushWay(r.at, r.at)
	default:
		r.pushWay(mark, r.at)
	}
	return r.advance(true)
}

func lazyLoopAgain(r *run, i *instruction) bool {
	mark, at := r.popWay2()
	r.pushWay2(mark, 1)
	r.mark(at)
	r.at = at
	return jump(r, i)
}

func lazyLoopFails(r *run, _ *instruction) bool {
	mark, marked := r.popWay2()
	if marked != 0 {
		r.unmark()
	}
	r.mark(mark)
	return false
}

func setCount(r *run, i *instruction) bool {
	r.mark2(r.at, i.first)
	r.pushWay()
	return r.advance(true)
}

func setNoCount(r *run, i *instruction) bool {
	r.mark2(-1, i.first)
	r.pushWay()
	return r.advance(true)
}

func dropCount(r *run, _ *instruction) bool {
	r.unmark2()
	return false
}

// countedLoop ends a round; a count below 0 is of rounds that must follow.
func countedLoop(r *run, i *instruction) bool {
	mark, count := r.unmark2()
	if count >= i.second || r.at == mark && count >= 0 {
		r.pushWay2(mark, count)
		return r.advance(true)
	}
	r.pushWay(mark)
	r.mark2(r.at, count+1)
	return jump(r, i)
}

func countedLoopLeave(r *run, _ *instruction) bool {
	before := r.popWay()
	mark, count := r.unmark2()
	if count <= 0 {
		r.mark2(before, count-1)
		return false
	}
	r.at = mark
	r.pushWay2(before, count-1)
	return r.advance(true)
}

func restoreCount(r *run, _ *instruction) bool {
	r.mark2(r.popWay2())
	return false
}

func lazyCountedLoop(r *run, i *instruction) bool {
	mark, count := r.unmark2()
	if count < 0 {
		r.pushWay2(mark)
		r.mark2(r.at, count+1)
		return jump(r, i)
	}
	r.pushWay(mark, count, r.at)
	return r.advance(true)
}

func lazyCountedLoopAgain(r *run, i *instruction) bool {
	at := r.popWay()
	mark, count := r.popWay2()
	if count >= i.second || at == mark {
		r.mark2(mark, count)
		return false
	}
	r.at = at
	r.mark2(at, count+1)
	r.pushWay2(mark)
	return jump(r, i)
}

func lazyCountedLoopFails(r *run, _ *instruction) bool {
	before := r.popWay()
	_, count := r.unmark2()
	r.mark2(before, count-1)
	return false
}

// setJump begins what is tried only once: a lookaround or an atomic group.
func setJump(r *run, _ *instruction) bool {
	r.mark2(len(r.ways), len(r.replaced))
	r.pushWay()
	return r.advance(true)
}

// failAtJump ends a negative lookaround whose inside matched.
func failAtJump(r *run, _ *instruction) bool {
	ways, captures := r.unmark2()
	r.ways = r.ways[:ways]
	r.uncapture(captures)
	return false
}

// passJump drops the ways back into what is tried only once.
func passJump(r *run, _ *instruction) bool {
	ways, captures := r.unmark2()
	r.ways = r.ways[:ways]
	r.pushWay(captures)
	return r.advance(true)
}

func uncaptureJump(r *run, _ *instruction) bool {
	r.uncapture(r.popWay())
	return false
}
