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
	{"Resource managers", "Start and stop connections to schedulers, and see your newest jobs. Refresh lists everything again as soon as the rate limit allows."},
	{"Machines", "The nodes of a machine as a map. Arrow keys move over it; Enter shows what is known of a node."},
	{"Queues", "State, limits and load of each queue."},
	{"Jobs", "Everybody's jobs. Filter them while typing; tick jobs to cancel, hold, release, suspend or resume them. The address keeps the filter, so you can bookmark it."},
	{"Timeline, Utilisation", "What ran when, up to a week back. Point at a plot, or move with the arrow keys, to see values; drag over it to enlarge a range."},
	{"Launch", "Fill in a form and submit a job. The preview shows the script and the command line that does the same."},
}

var helpStates = []helpEntry{
	{"queued", "waits for its turn"}, {"held", "waits until somebody releases it"}, {"running", "runs, or is just starting"},
	{"suspended", "is stopped and can go on"}, {"completed", "ended; its exit code is shown if the scheduler knows it"}, {"failed", "ended with an error"},
	{"canceled", "was ended by somebody"}, {"unknown", "the scheduler has not said"},
}

func helpMain() h.Node {
	return h.Group{
		h.Div(h.Class("stack"),
			card("Pages", helpList(helpPages)),
			card("States of jobs", helpList(helpStates)),
			card("Programs", h.P(h.Text("Programs use the API in JSON, which "), link(answer.APIPath+"/openapi.yaml", "openapi.yaml"),
				h.Text(" describes. On the command line, "), h.Code(h.Text("rmctl --help")), h.Text(" lists the commands."))),
		),
	}
}

func helpList(entries []helpEntry) h.Node {
	return h.Dl(h.Class("help"), h.Map(entries, func(e helpEntry) h.Node { return h.Div(h.Dt(h.Text(e.term)), h.Dd(h.Text(e.text))) }))
}
