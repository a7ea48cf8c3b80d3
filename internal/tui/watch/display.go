package watch

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/model"
)

// The lists, in the order of their tabs.
const (
	listManagers = iota
	listQueues
	listNodes
	listJobs
	lists
)

// A display is the screen: what Bubble Tea runs. Its methods are called by one
// goroutine; what takes time is handed to background.
type display struct {
	ctx      context.Context // of all that is begun here
	model    *model.Model
	controls Controls
	notices  *tui.Notices
	now      func() time.Time
	stirred  atomic.Bool // whether output came that is not shown yet

	background tui.Work

	width, height int
	snapshot      *model.Snapshot
	clock         time.Time
	retries       map[string]time.Time // of targets in error: when they are tried again

	tables  [lists]*table
	list    int // which is shown
	isTable bool
	nodes   nodeMap

	detail    *detail // shown over the list; nil for none
	pager     *pager
	menu      *menu
	question  *question
	waiting   *tui.Prompt // waits until what is typed for something else has ended
	prompt    *tui.Prompt
	withdrawn *tui.Prompt // nobody waits for its answer any more, but the user may still be typing it
	typed     string      // the answer to the prompt, so far
	typing    bool        // whether what is typed is searched for
	search    string

	message   string
	isProblem bool
	saidAt    time.Time
	messages  []string // all of them, the newest last
	running   []string // what was started and has not ended
}

func newDisplay(ctx context.Context, o Options, now func() time.Time) *display {
	d := &display{ctx: ctx, model: o.Model, controls: o.Controls, notices: o.Notices, now: now, width: 80, height: 24, clock: now(), snapshot: o.Model.Snapshot()}
	for i, kind := range []model.Kind{model.ResourceManager, model.Queue, model.Node, model.Job} {
		d.tables[i] = newTable(kind)
		d.tables[i].query.user = o.User
	}
	d.list = listJobs
	return d
}

// table returns the list that is shown.
func (d *display) table() *table { return d.tables[d.list] }

// Init implements [tea.Model].
func (d *display) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (d *display) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	d.holdText()
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		d.width, d.height = max(m.Width, 1), max(m.Height, 1)
		cmd = tea.ClearScreen // terminals move what they show when their size changes
	case tea.PasteMsg:
		d.insert(m.Content)
	case tea.KeyPressMsg:
		cmd = d.key(m)
	case tea.MouseWheelMsg:
		d.wheel(m)
	case tea.MouseClickMsg:
		d.click(m)
	case pulseMsg:
		d.applyPulse(m)
	case tui.Apply:
		m()
	case tui.Prompt:
		d.enqueuePrompt(m)
	case tui.WithdrawnMsg:
		d.withdraw()
	}
	d.showPrompt()
	d.ask()
	d.layOut()
	return d, cmd
}

// applyPulse shows the model at a new moment, and the notices since the last one.
func (d *display) applyPulse(m pulseMsg) {
	d.snapshot, d.clock, d.retries = m.snapshot, m.now, m.retries
	if d.clock.Sub(d.saidAt) > messageLife {
		d.message, d.isProblem = "", false
	}
	for _, notice := range m.notices {
		d.say(notice, strings.Contains(notice, "warning") || strings.Contains(notice, "level=ERROR"))
	}
	if d.pager != nil && d.pager.renew != nil {
		d.pager.renew()
	}
	d.seeDetail()
}

// enqueuePrompt has [display.showPrompt] show a question, unless it ran out of time
// while a form had the terminal.
func (d *display) enqueuePrompt(p tui.Prompt) {
	if p.Context.Err() == nil {
		d.waiting = &p
	}
}

// ask queries the rows of the list that is shown, unless they are up to date or a query
// runs: the answer calls it again.
func (d *display) ask() {
	t := d.table()
	t.query.snapshot = d.snapshot
	if t.isAsking || t.answer.query.same(t.query) {
		return
	}
	t.isAsking = true
	query := t.query
	if selected, ok := t.selected(); ok {
		query.selected = selected.ref()
	}
	d.background(func() tui.Apply {
		found := query.answer()
		return func() {
			t.isAsking = false
			t.show(found)
		}
	})
}

// layOut brings the cursor into sight and finds room for the columns.
func (d *display) layOut() {
	t, height := d.table(), d.listHeight()
	if d.showsMap() {
		d.nodes.arrange(t.answer.rows, d.width)
		d.nodes.scroll(t.at, height)
		return
	}
	t.scroll(height)
	t.fit(d.width, height, d.clock)
}

// showsMap reports whether the list is the map of the nodes.
func (d *display) showsMap() bool { return d.list == listNodes && !d.isTable }

// turn shows another list.
func (d *display) turn(list int) {
	d.list = (list + lists) % lists
	d.search = strings.Join(d.table().query.words, " ")
}

// narrow changes what all lists show, or one of them, and goes to the first row.
func (d *display) narrow(change func(q *query), tables ...*table) {
	for _, t := range tables {
		change(&t.query)
		t.toFirstRow()
	}
}

// messageLife is how long a message is shown: it may be out of date by then.
// All messages can still be looked at.
const messageLife = time.Minute

// say shows a message, and keeps it.
func (d *display) say(text string, isProblem bool) {
	if text = tui.Safe(text); text == "" {
		return
	}
	d.message, d.isProblem, d.saidAt = text, isProblem, d.clock
	const kept = 500
	d.messages = append(d.messages, d.clock.Local().Format(time.TimeOnly)+"  "+text)
	d.messages = d.messages[max(len(d.messages)-kept, 0):]
}

// run does something in the background, and reports how it ended.
func (d *display) run(what string, do func() (string, error)) {
	d.running = append(d.running, what)
	d.message = ""
	d.background(func() tui.Apply {
		said, err := do()
		return func() {
			if i := slices.Index(d.running, what); i >= 0 {
				d.running = slices.Delete(d.running, i, i+1)
			}
			d.report(what, said, err)
		}
	})
}

// report says how something ended.
func (d *display) report(what, said string, err error) {
	if err != nil {
		d.say(what+": "+err.Error(), true)
		return
	}
	d.say(said, false)
}
