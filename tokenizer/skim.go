package tokenizer

import (
	"bytes"
	"slices"
	"strings"
)

// A skimmer finds the segments that a match may take and skips all others. It searches for landmarks:
// texts that every segment matched by an expression contains.
type skimmer struct {
	landmarks []landmark
	delimiter byte
	inRounds  []*match // of targets with matchAll
	unsampled int      // bytes until the rare bytes are chosen again
}

// A landmark is a text that the skimmer searches for by its byte that is rarest in the stream.
type landmark struct {
	text []byte
	rare int // index of that byte
	next int // next position in the current piece of the stream
}

// A landmarkSet is a set of landmarks by number.
type landmarkSet uint32

// anyLandmark is used for segments that were not skimmed.
const anyLandmark = ^landmarkSet(0)

func (s landmarkSet) has(number int) bool { return s&(1<<number) != 0 }

const (
	mostLandmarks = 24
	// shortestLandmark is the minimum length of a landmark: shorter texts are not rare enough.
	shortestLandmark = 3
	// worthSkimming is the length of a piece of the stream, in bytes, below which creating a skimmer
	// takes longer than it saves.
	worthSkimming = 16 << 10
	sampleLength  = 4 << 10
	sampledEvery  = 1 << 20
)

// skims reports whether segments may be skipped. It creates the skimmer once the stream proves to be
// long.
func (t *Tokenizer) skims(d *delimited) bool {
	if !t.planned {
		t.planned = true
		t.skimmer = t.newSkimmer(d)
	}
	return t.skimmer != nil
}

// newSkimmer returns nil if some match can take a segment without a landmark.
func (t *Tokenizer) newSkimmer(d *delimited) *skimmer {
	if t.options.Trace != nil || t.parser.All || len(t.targets) == 0 || d.isReturn || t.longestSegment() < pieceLength {
		return nil
	}
	required, all := t.requiredTexts(string(d.delimiter))
	if !all {
		return nil
	}
	chosen := chooseLandmarks(required)
	if len(chosen) > mostLandmarks {
		return nil
	}
	s := &skimmer{delimiter: d.delimiter[0]}
	for _, text := range chosen {
		s.landmarks = append(s.landmarks, landmark{text: []byte(text)})
	}
	for i, m := range t.matches {
		m.landmark = slices.IndexFunc(chosen, func(text string) bool { return containsIn(required[i], text) })
	}
	for _, target := range t.targets {
		s.mark(target)
	}
	return s
}

// requiredTexts returns the texts that each match, then each exit expression, requires in a segment; all
// reports whether each requires some.
func (t *Tokenizer) requiredTexts(delimiter string) (required [][]string, all bool) {
	var expressions []*expression
	for _, m := range t.matches {
		if m.regex == nil || m.regex.config.Split {
			return nil, false // matches every segment
		}
		expressions = append(expressions, m.regex)
	}
	for _, exit := range []*expression{t.exitOn, t.exitAfter} {
		if exit != nil {
			expressions = append(expressions, exit)
		}
	}
	for _, e := range expressions {
		texts := withoutDelimiter(e.regexp.RequiredLiterals(), delimiter)
		if len(texts) == 0 {
			return nil, false
		}
		required = append(required, texts)
	}
	return required, true
}

// mark determines the landmarks of a target.
func (s *skimmer) mark(target *target) {
	if target.config.MatchAll {
		// Such a match is not always tried, and tries are counted.
		s.inRounds = append(s.inRounds, target.matches...)
		return
	}
	target.landmarks = 0
	for _, m := range target.matches {
		target.landmarks |= 1 << m.landmark
	}
}

// withoutDelimiter returns the texts up to a delimiter in them, without those that are too short.
func withoutDelimiter(texts []string, delimiter string) []string {
	var kept []string
	for _, text := range texts {
		text, _, _ = strings.Cut(text, delimiter)
		if len(text) >= shortestLandmark {
			kept = append(kept, text)
		}
	}
	return kept
}

// chooseLandmarks returns few texts such that each list contains one, or a text that includes one. It
// repeatedly takes the text that covers most lists, preferring longer ones.
func chooseLandmarks(lists [][]string) []string {
	var chosen []string
	open := slices.Clone(lists)
	for len(open) > 0 {
		best, most := "", 0
		for _, list := range open {
			for _, text := range list {
				serves := 0
				for _, other := range open {
					if containsIn(other, text) {
						serves++
					}
				}
				if serves > most || serves == most && len(text) > len(best) {
					best, most = text, serves
				}
			}
		}
		chosen = append(chosen, best)
		open = slices.DeleteFunc(open, func(list []string) bool { return containsIn(list, best) })
	}
	return chosen
}

func containsIn(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
}

// skim examines the relevant segments of a piece of the stream, which begins with a segment, and returns
// the rest: the beginning of an incomplete segment.
func (s *skimmer) skim(t *Tokenizer, d *delimited, p []byte) (rest []byte) {
	complete := bytes.LastIndexByte(p, s.delimiter) + 1
	rest, p = p[complete:], p[:complete]
	s.sample(p)
	for i := range s.landmarks {
		s.landmarks[i].seek(p, 0)
	}
	start := 0
	for !t.left && start < len(p) {
		next := len(p)
		for i := range s.landmarks {
			next = min(next, s.landmarks[i].next)
		}
		if next == len(p) {
			s.pass(t, p[start:])
			break
		}
		begin := start + bytes.LastIndexByte(p[start:next], s.delimiter) + 1
		s.pass(t, p[start:begin])
		end := next + bytes.IndexByte(p[next:], s.delimiter)
		t.landmarks = s.within(p, end)
		start = end + 1
		if d.include {
			end++
		}
		d.emit(p[begin:end])
	}
	t.landmarks = anyLandmark
	return rest
}

// within returns the landmarks in a segment and moves them past its end.
func (s *skimmer) within(p []byte, end int) landmarkSet {
	var found landmarkSet
	for i := range s.landmarks {
		if each := &s.landmarks[i]; each.next < end {
			found |= 1 << i
			each.seek(p, end+1)
		}
	}
	return found
}

// pass counts skipped segments.
func (s *skimmer) pass(t *Tokenizer, segments []byte) {
	if len(segments) == 0 {
		return
	}
	passed := int64(bytes.Count(segments, []byte{s.delimiter}))
	t.stats.Segments += passed
	t.stats.Unmatched += passed
	t.passed += passed
	for _, m := range s.inRounds {
		if m.used {
			m.stats.Tried -= passed // Stats adds skipped segments
		}
	}
}

// sample chooses the rare bytes of the landmarks from the beginning of a piece of the stream.
func (s *skimmer) sample(p []byte) {
	s.unsampled -= len(p)
	if s.unsampled > 0 {
		return
	}
	s.unsampled = sampledEvery
	var counts [256]int
	for _, b := range p[:min(len(p), sampleLength)] {
		counts[b]++
	}
	for i := range s.landmarks {
		each := &s.landmarks[i]
		for at, b := range each.text {
			if counts[b] < counts[each.text[each.rare]] {
				each.rare = at
			}
		}
	}
}

// seek finds the landmark from an offset on. If it does not occur, next is the end of the piece.
func (l *landmark) seek(p []byte, from int) {
	wanted := l.text[l.rare]
	for at := from + l.rare; at < len(p); at++ {
		found := bytes.IndexByte(p[at:], wanted)
		if found < 0 {
			break
		}
		at += found
		begin := at - l.rare
		if end := begin + len(l.text); end <= len(p) && string(p[begin:end]) == string(l.text) {
			l.next = begin
			return
		}
	}
	l.next = len(p)
}
