package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/model"
)

// A View draws what a page shows of a snapshot, for the query of the page's
// address. It is called once per snapshot and query, however many clients look
// at it, by one goroutine at a time or several; what it returns must not be
// changed afterwards. A query that it does not take is an error, best one of
// answer.Errorf with http.StatusBadRequest.
type View func(snapshot *model.Snapshot, query url.Values) ([]Region, error)

// A Region is a part of a page that changes: the content of the element whose
// id is ID. It has either HTML, which is replaced as a whole, or items: only
// changed items are replaced.
type Region struct {
	ID    string
	HTML  html.HTML
	Items []Item // nil for a region with html.HTML
}

// sameKind reports whether what is shown of one region can become the other.
func (r Region) sameKind(other Region) bool {
	return r.ID == other.ID && (r.Items == nil) == (other.Items == nil)
}

// An Item is a child of a region's element, such as a row of a table: one
// element of HTML with the attribute data-key="KEY", KEY being unique in the
// region.
type Item struct {
	Key  string
	HTML html.HTML
}

// Whole returns a region that is replaced as a whole.
func Whole(id string, content html.Node) Region {
	return Region{ID: id, HTML: html.Render(content)}
}

// Rows returns a region with an item for each row.
func Rows[T any](id string, rows []T, key func(T) string, item func(T) html.Node) Region {
	r := Region{ID: id, Items: make([]Item, len(rows))}
	for i, row := range rows {
		r.Items[i] = Item{Key: key(row), HTML: html.Render(item(row))}
	}
	return r
}

// Drawn is a view as it was drawn of one snapshot.
type Drawn struct {
	Name    string
	Query   string // encoded, in one form for all queries that mean the same
	Mark    string // of this drawing, see Hub.Stream
	regions []Region
}

// Region returns the content of a region, for the page that shows it.
func (d *Drawn) Region(id string) html.Node {
	at := slices.IndexFunc(d.regions, func(r Region) bool { return r.ID == id })
	if at < 0 {
		return html.Text(fmt.Sprintf("the view %s has no region %q", d.Name, id))
	}
	r := d.regions[at]
	if r.Items == nil {
		return r.HTML
	}
	return html.Map(r.Items, func(i Item) html.Node { return i.HTML })
}

// Events returns the address of the stream of changes after this drawing.
func (d *Drawn) Events() string {
	query, err := url.ParseQuery(d.Query)
	if err != nil {
		query = url.Values{}
	}
	query.Set("view", d.Name)
	query.Set("drawn", d.Mark)
	return "/events?" + query.Encode()
}

// patch is what is sent of a region: all of it, or what changed.
type patch struct {
	ID    string            `json:"id"`
	HTML  *html.HTML        `json:"html,omitempty"`  // the whole content
	Order []string          `json:"order,omitempty"` // the keys of all items, unless they stay in their order
	Empty bool              `json:"empty,omitempty"` // whether no item is left
	Items map[string]string `json:"items,omitempty"` // HTML by key, of items that are new or changed
}

// patches returns what turns one drawing into another, nothing where they show
// the same; before is nil for a client that shows nothing yet.
func patches(before, after *Drawn) []patch {
	var all []patch
	for i := range after.regions {
		var known *Region
		if before != nil && i < len(before.regions) && before.regions[i].sameKind(after.regions[i]) {
			known = &before.regions[i]
		}
		if p, differs := regionPatch(known, &after.regions[i]); differs {
			all = append(all, p)
		}
	}
	return all
}

func regionPatch(before, after *Region) (patch, bool) {
	p := patch{ID: after.ID}
	if after.Items == nil {
		if before != nil && before.HTML == after.HTML {
			return p, false
		}
		p.HTML = &after.HTML
		return p, true
	}
	known := map[string]html.HTML{}
	sameOrder := before != nil && len(before.Items) == len(after.Items)
	if before != nil {
		for i, item := range before.Items {
			known[item.Key] = item.HTML
			sameOrder = sameOrder && item.Key == after.Items[i].Key
		}
	}
	p.Items = map[string]string{}
	for _, item := range after.Items {
		if html, there := known[item.Key]; !there || html != item.HTML {
			p.Items[item.Key] = string(item.HTML)
		}
		if !sameOrder {
			p.Order = append(p.Order, item.Key)
		}
	}
	p.Empty = len(after.Items) == 0
	return p, !sameOrder || len(p.Items) > 0
}

// event returns patches as they are sent to clients.
func event(mark string, all []patch) []byte {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // no part of an answer that is HTML, and three times as long with it
	if err := encoder.Encode(all); err != nil {
		return problemEvent(err)
	}
	return answer.EventText(mark, "patch", bytes.TrimSpace(data.Bytes()))
}

// problemEvent returns the event that says why a view cannot be drawn any more.
func problemEvent(err error) []byte {
	data, writing := json.Marshal(err.Error())
	if writing != nil {
		data = []byte(`""`) // of a text, which can always be written
	}
	return answer.EventText("", "problem", data)
}
