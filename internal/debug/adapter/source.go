package adapter

import (
	"os"
	"path"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
)

const (
	mostSources    = 10000
	mostTextsAsked = 64 // ranks that get a question for a file
)

// sources are the files that frames have named.
type sources struct {
	numbers map[string]int // by path, 0 if the file can be read here
	files   []sourceFile   // by number, from 1
}

// A sourceFile is a file of the target.
type sourceFile struct {
	path  string
	ranks debug.Ranks // that have named it
}

// source describes a file to the editor: by its path if it can be read here, otherwise by a reference number.
func (a *adapter) source(name string, ranks debug.Ranks) *dap.Source {
	number, isKnown := a.sources.numbers[name]
	if !isKnown && len(a.sources.numbers) < mostSources {
		number = a.addSource(name, ranks)
	}
	return &dap.Source{Name: path.Base(name), Path: name, SourceReference: number}
}

func (a *adapter) addSource(name string, ranks debug.Ranks) int {
	all := &a.sources
	if all.numbers == nil {
		all.numbers = map[string]int{}
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		all.numbers[name] = 0
		return 0
	}
	all.files = append(all.files, sourceFile{name, ranks})
	all.numbers[name] = len(all.files)
	return len(all.files)
}

// sourceText answers with the text of a file that the editor cannot read.
func (a *adapter) sourceText(r *request, message *dap.SourceRequest) {
	number := message.Arguments.SourceReference
	if source := message.Arguments.Source; source != nil && source.SourceReference > 0 {
		number = source.SourceReference
	}
	p := a.program
	if p == nil || number < 1 || number > len(a.sources.files) {
		a.fail(r, "unknown source")
		return
	}
	file := a.sources.files[number-1]
	ranks := spread(common(file.ranks, p.session.Ranks(debug.Running, debug.Stopped)), mostTextsAsked)
	if len(ranks) == 0 {
		a.fail(r, "the ranks that have "+file.path+" have ended")
		return
	}
	question := debug.Question{Ranks: ranks, Request: debug.Request{Verb: debug.Source, Text: file.path}}
	a.ask(r, answerLimit, p.session.Send(question), func(parts []debug.Part) {
		if haveFailed(parts) {
			a.fail(r, describeProblems(parts))
			return
		}
		var first *debug.Part
		for i, part := range parts {
			switch {
			case part.Problem != "":
			case first == nil:
				first = &parts[i]
			case part.Text != first.Text:
				a.fail(r, file.path+" differs between "+nameRanks(first.Ranks)+" and "+nameRanks(part.Ranks))
				return
			}
		}
		a.respond(r, &dap.SourceResponse{Body: dap.SourceResponseBody{Content: first.Text}})
	})
}

// spread returns some of many ranks, from the whole set.
func spread(set debug.Ranks, most int) debug.Ranks {
	count := set.Count()
	if count <= most {
		return set
	}
	var some debug.Ranks
	at, taken := 0, 0
	for _, span := range set {
		for rank := span.First; rank <= span.Last; rank++ {
			if at*most/count >= taken {
				some = append(some, ranges.Range{First: rank, Last: rank})
				taken++
			}
			at++
		}
	}
	return some.Merged()
}
