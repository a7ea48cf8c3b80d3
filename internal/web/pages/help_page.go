package pages

import (
	"net/http"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/answer"
)

// helpPage explains the pages in short.
func (p *Pages) helpPage(w http.ResponseWriter, r *http.Request) error {
	p.answer(w, r, http.StatusOK, document{title: "Help", main: helpMain()})
	return nil
}

// A helpEntry explains a term.
type helpEntry struct{ term, text string }

var helpPages = []helpEntry{
	{"Targets", "Start and stop sessions, and see your newest jobs. Refresh queries the schedulers as soon as the rate limit allows."},
	{"Machines", "The nodes of a machine as a map. Move with the arrow keys; press Enter for the details of a node."},
	{"Queues", "State, limits and load of each queue."},
	{"Jobs", "The jobs of all users. Type to filter them; tick jobs to cancel, hold, release, suspend or resume them. The URL contains the filter, so you can bookmark it."},
	{"Timeline, Utilisation", "Jobs and use of the last week. Point at a plot, or use the arrow keys, to see values; drag to enlarge a range."},
	{"Launch", "Fill in a form and submit a job. The preview shows the script and the command line that does the same."},
}

var helpStates = []helpEntry{
	{"queued", "waits in the queue"}, {"held", "waits until it is released"}, {"running", "runs or is starting"},
	{"suspended", "is suspended and can be resumed"}, {"completed", "ended successfully; the exit code is shown if known"}, {"failed", "ended with an error"},
	{"canceled", "was canceled"}, {"unknown", "rmctl cannot determine the state"},
}

func helpMain() h.Node {
	return h.Group{
		h.Div(h.Class("stack"),
			card("Pages", helpList(helpPages)),
			card("States of jobs", helpList(helpStates)),
			card("Programs", h.P(h.Text("Programs use the JSON API, which "), link(answer.APIPath+"/openapi.yaml", "openapi.yaml"),
				h.Text(" describes. On the command line, "), h.Code(h.Text("rmctl --help")), h.Text(" lists the commands."))),
		),
	}
}

func helpList(entries []helpEntry) h.Node {
	return h.Dl(h.Class("help"), h.Map(entries, func(e helpEntry) h.Node { return h.Div(h.Dt(h.Text(e.term)), h.Dd(h.Text(e.text))) }))
}
