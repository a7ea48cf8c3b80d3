package tokenizer

import (
	"bytes"
	"slices"
	"strings"
)

// A skimmer finds the segments of a stream that a match may take, and passes
// over all others without looking at each. It does so by landmarks: texts that
// every segment has that an expression matches.
type skimmer struct {
	landmarks []landmark
	delimiter byte
	inRounds  []*match // of targets with matchAll
	unsampled int      // bytes until rare bytes are chosen again
}

// A landmark is looked for by the byte of it that is rarest in the stream.
type landmark struct {
	text []byte
	rare int // index of that byte
	next int // where the landmark is next, in the present piece of the stream
}

// A landmarkSet is a set of landmarks by number.
type landmarkSet uint32

// anyLandmark is for segments that were not skimmed.
const anyLandmark = ^landmarkSet(0)

func (s landmarkSet) has(number int) bool { return s&(1<<number) != 0 }

const (
	mostLandmarks = 24
	// shortestLandmark is the length from which on a text is rare enough.
	shortestLandmark = 3
	// worthSkimming is the length of a piece of the stream, in bytes, below which making a
	// skimmer takes longer than it saves.
	worthSkimming = 16 << 10
	sampleLength  = 4 << 10
	sampledEvery  = 1 << 20
)

// skims reports whether segments may be passed over. What is needed for it is
// made when the stream proves to be long.
func (t *Tokenizer) skims(d *delimited) bool {
	if !t.planned {
		t.planned = true
		t.skimmer = t.newSkimmer(d)
	}
	return t.skimmer != nil
}

// newSkimmer returns nil where some segment can be taken that has no landmark.
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

// requiredTexts returns the texts that each match requires of a segment, then those that
// each exit expression requires; all reports whether none goes without.
func (t *Tokenizer) requiredTexts(delimiter string) (required [][]string, all bool) {
	var expressions []*expression
	for _, m := range t.matches {
		if m.regex == nil || m.regex.config.Split {
			return nil, false // takes every segment
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

// mark finds out which landmarks a target needs.
func (s *skimmer) mark(target *target) {
	if target.config.MatchAll {
		// Whether a match is tried changes, and that is counted.
		s.inRounds = append(s.inRounds, target.matches...)
		return
	}
	target.landmarks = 0
	for _, m := range target.matches {
		target.landmarks |= 1 << m.landmark
	}
}

// withoutDelimiter returns the texts up to the delimiter, which may end a segment,
// as far as they are rare enough.
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

// chooseLandmarks returns few texts so that each list has one, or one that holds
// it: again and again the text that serves most lists, of several the longest.
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

// skim takes the segments of a piece of the stream that begins with a segment,
// as far as they can matter, and returns what is left: the begin of the last one.
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

// within returns the landmarks before the end of a segment and moves them past it.
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

// pass counts segments in which there is no landmark.
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
			m.stats.Tried -= passed // since Stats adds those that were passed
		}
	}
}

// sample chooses the rare bytes of the landmarks by the begin of a piece of the stream.
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

// seek finds the landmark from an offset on; its next place is the end of the
// piece if the piece does not have it.
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
