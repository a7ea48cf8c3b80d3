package dap

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/rmctl/rmctl/debug"
)

// A watch is a watchpoint.
type watch struct {
	debug.Breakpoint
	address uint64
	number  int    // of the debugger, 0 if it is not set
	text    string // why it is not set
	read    string // an expression that evaluates to the value in any frame
	value   string
}

// placeWatches sets watchpoints, and keeps those that are set already.
func (e *Engine) placeWatches(ctx context.Context, wanted []debug.Breakpoint) error {
	old := e.points.watches
	e.points.watches = nil
	for _, breakpoint := range wanted {
		if breakpoint.Watch == "" || breakpoint.Disabled {
			continue
		}
		now := &watch{Breakpoint: breakpoint}
		if i := slices.IndexFunc(old, now.isSetAs); i >= 0 {
			now, old = old[i], slices.Delete(slices.Clone(old), i, i+1)
			now.Breakpoint = breakpoint
		}
		e.points.watches = append(e.points.watches, now)
	}
	for _, each := range old {
		if each.number == 0 {
			continue
		}
		if err := e.dialect.unwatch(ctx, e, each.number); err != nil {
			return err
		}
	}
	for _, each := range e.points.watches {
		if each.number != 0 {
			continue
		}
		if err := e.dialect.watch(ctx, e, each); err != nil {
			each.text = bounded(e.dialect.message(err.Error()))
		}
	}
	return e.debugger.err()
}

// isSetAs reports whether another watchpoint is set and watches the same.
func (w *watch) isSetAs(other *watch) bool {
	return other.number != 0 && w.ID == other.ID && w.Watch == other.Watch && w.Access == other.Access
}

// change returns the old and the new value, and keeps the new one.
func (w *watch) change(ctx context.Context, e *Engine, thread int) string {
	before := w.value
	w.value = w.current(ctx, e, thread)
	return bounded(w.Watch + ": " + before + " → " + w.value)
}

func (w *watch) current(ctx context.Context, e *Engine, thread int) string {
	frames, _, err := e.listFrames(ctx, thread, 0, 1)
	if err != nil || len(frames) == 0 {
		return "?"
	}
	body, err := e.computeIn(ctx, frames[0].id, w.read)
	if err != nil {
		return "?"
	}
	value, _ := e.dialect.value(variable{Value: body.Result, Type: body.Type})
	return value
}

// watch sets a watchpoint of lldb by a command. Only numbers go into it: what users write is evaluated before.
func (lldb) watch(ctx context.Context, e *Engine, each *watch) error {
	access, isKnown := map[string]string{"": "write", "write": "write", "read": "read", "any": "read_write"}[each.Access]
	if !isKnown {
		return refusal{"unknown access: " + bounded(each.Access)}
	}
	frame, err := e.frameOf(ctx, debug.Request{})
	if err != nil {
		return err
	}
	pointer, err := e.computeIn(ctx, frame, "&("+each.Watch+")")
	if err != nil {
		return err
	}
	address, err := addressIn(pointer.Result)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(e.points.watches, func(other *watch) bool { return other.number != 0 && other.address == address }) {
		return refusal{"another watchpoint watches this value"} // lldb would replace it
	}
	size, err := e.computeIn(ctx, frame, "sizeof("+each.Watch+")")
	if err != nil {
		return err
	}
	bytes, err := strconv.ParseUint(size.Result, 10, 64)
	if err != nil {
		return refusal{"the size of the value is unknown"}
	}
	printed, err := e.command(ctx, frame, fmt.Sprintf("watchpoint set expression -w %s -s %d -- 0x%x", access, bytes, address))
	if err != nil {
		return err
	}
	number, isSet := numberAfter(printed, "Watchpoint created: Watchpoint ")
	if !isSet {
		return refusal{printed}
	}
	each.number = number
	each.address = address
	each.read = fmt.Sprintf("*(%s)0x%x", pointer.Type, address)
	thread, err := e.threadOf(debug.Request{})
	if err == nil {
		each.value = each.current(ctx, e, thread)
	}
	return err
}

func (lldb) unwatch(ctx context.Context, e *Engine, number int) error {
	_, err := e.command(ctx, 0, "watchpoint delete "+strconv.Itoa(number))
	return err
}
