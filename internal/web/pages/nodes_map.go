package pages

import (
	"math"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// cellPitch is how far apart cells of the map are, in its own units.
const cellPitch = 13

// mostMapped bounds the nodes of a map. Of a larger machine the table has the rest.
const mostMapped = 50_000

// A nodeMap is the map of a machine's nodes: one outline for each look, whatever the
// number of nodes, so that thousands are drawn at once.
type nodeMap struct {
	Manager, Machine string // ids
	Nodes            int
	Left             int // nodes that are not on the map
	Columns          int
	Width, Height    int
	Layers           []mapLayer
	Names            string // of the nodes, folded; see listing.FoldNames
	Words            string // says in words what there is
}

// A mapLayer is all nodes of one look.
type mapLayer struct {
	Mark  listing.Mark
	Cell  string // the outline of one cell
	Path  string // the outlines of all
	Codes string // the places of its nodes, as runs: from, length, from, length ...
	Count string
}

// mapOf returns the map of nodes in a number of columns, 0 for as many as suit their number.
func mapOf(manager *model.Manager, machine string, columns int) nodeMap {
	n := nodeMap{Manager: manager.Element().ID(), Machine: machine}
	var tally listing.NodeTally
	var names []string
	places := map[listing.Look][]int{}
	for node := range manager.Children(model.Node, machine) {
		look := listing.LookOf(node)
		tally.Add(node, look)
		if len(names) >= mostMapped {
			n.Left++
			continue
		}
		places[look] = append(places[look], len(names))
		names = append(names, node.ID())
	}
	n.Nodes = len(names)
	n.Words = tally.Words()
	n.Columns = columns
	if n.Columns == 0 {
		n.Columns = usualColumnsFor(n.Nodes)
	}
	rows := (n.Nodes + n.Columns - 1) / n.Columns
	n.Width, n.Height = n.Columns*cellPitch, max(1, rows)*cellPitch
	for look := range listing.NumberOfLooks {
		if len(places[look]) == 0 {
			continue
		}
		m := look.Mark()
		n.Layers = append(n.Layers, mapLayer{Mark: look.Sign(), Cell: m.Sign, Path: outlines(places[look], n.Columns, m.Sign),
			Codes: runs(places[look]), Count: listing.Thousands(len(places[look]))})
	}
	n.Names = listing.FoldNames(names)
	return n
}

// usualColumnsFor returns how many columns give a map that is wider than high.
func usualColumnsFor(nodes int) int {
	return min(max(16, int(math.Ceil(math.Sqrt(float64(nodes)*1.6)))), 160)
}

// outlines returns one outline of all cells at the places.
func outlines(places []int, columns int, cell string) string {
	path := make([]byte, 0, len(places)*(len(cell)+10))
	for _, at := range places {
		path = append(path, 'M')
		path = strconv.AppendInt(path, int64(at%columns*cellPitch), 10)
		path = append(path, ' ')
		path = strconv.AppendInt(path, int64(at/columns*cellPitch), 10)
		path = append(path, cell...)
	}
	return string(path)
}

// runs writes ascending numbers as where each run of them begins and how long it is.
func runs(numbers []int) string {
	var text strings.Builder
	for i := 0; i < len(numbers); {
		length := 1
		for i+length < len(numbers) && numbers[i+length] == numbers[i]+length {
			length++
		}
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(strconv.Itoa(numbers[i]))
		text.WriteByte(' ')
		text.WriteString(strconv.Itoa(length))
		i += length
	}
	return text.String()
}
