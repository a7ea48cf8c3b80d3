package debug

import (
	"cmp"
	"slices"
	"strings"
)

// mostPartial bounds a line that has not ended, in bytes. A longer one is cut.
const mostPartial = 64 << 10

// Lines collects the output of ranks, and returns equal lines of several ranks once. The zero value is
// empty. It is not safe for concurrent use.
type Lines struct {
	streams map[stream]*output
}

// A stream is one of the streams of a rank.
type stream struct {
	rank int
	name string
}

type output struct {
	complete []string
	partial  string
}

// A Line is a line of output of some ranks, without its line break.
type Line struct {
	Ranks  Ranks  `json:"ranks"`
	Stream string `json:"stream"`
	Text   string `json:"text"`
}

// Add adds what a rank has printed.
func (l *Lines) Add(rank int, name, text string) {
	if l.streams == nil {
		l.streams = map[stream]*output{}
	}
	key := stream{rank, name}
	if l.streams[key] == nil {
		l.streams[key] = &output{}
	}
	l.streams[key].add(text)
}

func (o *output) add(text string) {
	text = o.partial + text
	for {
		line, rest, hasEnd := strings.Cut(text, "\n")
		if !hasEnd {
			if len(line) <= mostPartial {
				break
			}
			line, rest = line[:mostPartial], line[mostPartial:]
		}
		o.complete = append(o.complete, strings.TrimSuffix(line, "\r"))
		text = rest
	}
	o.partial = text
}

// Take returns the lines that are complete, those of each rank and stream in their order. With all, it returns
// what has no line break yet, too.
func (l *Lines) Take(all bool) []Line {
	keys := make([]stream, 0, len(l.streams))
	for key, o := range l.streams {
		if all && o.partial != "" {
			o.complete, o.partial = append(o.complete, o.partial), ""
		}
		if len(o.complete) > 0 {
			keys = append(keys, key)
		} else if o.partial == "" {
			delete(l.streams, key)
		}
	}
	slices.SortFunc(keys, func(a, b stream) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name)) })
	return l.merge(keys)
}

// A head is a line that comes next in some streams.
type head struct{ name, text string }

// merge takes all lines of some streams.
func (l *Lines) merge(keys []stream) (taken []Line) {
	ranks := map[head][]int{} // whose next line it is
	var heads []head
	push := func(key stream) {
		o := l.streams[key]
		if len(o.complete) == 0 {
			return
		}
		next := head{key.name, o.complete[0]}
		o.complete = o.complete[1:]
		if ranks[next] == nil {
			heads = append(heads, next)
		}
		ranks[next] = append(ranks[next], key.rank)
	}
	for _, key := range keys {
		push(key)
	}
	for len(heads) > 0 {
		first := heads[0]
		heads = heads[1:]
		of := ranks[first]
		delete(ranks, first)
		for _, rank := range of {
			push(stream{rank, first.name})
		}
		taken = append(taken, Line{setOf(of), first.name, first.text})
	}
	return taken
}
