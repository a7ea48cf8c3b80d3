package rmctl_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// The limits of docs: what a reader opens in one sitting, and what somebody has to keep true.
const (
	maxLinesOfPage = 290
	maxWordsOfDocs = 34_600
)

// A markdownPage is a Markdown file of the project.
type markdownPage struct {
	lines, words int
	anchors      map[string]bool
	links        []string // relative targets, with their anchors
	levels       []int    // of the headings
}

func TestLinksBetweenMarkdownFilesResolve(t *testing.T) {
	pages := readMarkdownPages(t)
	for name, page := range pages {
		for _, link := range page.links {
			file, anchor, hasAnchor := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link %q: no such file", name, link)
			} else if linked := pages[target]; hasAnchor && linked != nil && !linked.anchors[anchor] {
				t.Errorf("%s: link %q: no such heading", name, link)
			}
		}
	}
}

func TestDocsAreReachableFromTheirIndex(t *testing.T) {
	pages := readMarkdownPages(t)
	reached, next := map[string]bool{"docs/index.md": true}, []string{"docs/index.md"}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		require.Contains(t, pages, name)
		for _, link := range pages[name].links {
			file, _, _ := strings.Cut(link, "#")
			target := path.Join(path.Dir(name), file)
			if pages[target] != nil && !reached[target] {
				reached[target] = true
				next = append(next, target)
			}
		}
	}
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && !reached[name] {
			t.Errorf("%s: no path of links leads here from docs/index.md", name)
		}
	}
}

// The site refuses pages with a heading that has no heading of the level above it.
func TestHeadingsOfDocsSkipNoLevel(t *testing.T) {
	for name, page := range readMarkdownPages(t) {
		last := 0
		for i, level := range page.levels {
			if level > last+1 || (level == 1) != (i == 0) {
				t.Errorf("%s: heading %d has level %d after level %d", name, i+1, level, last)
			}
			last = level
		}
	}
}

func TestDocsStayShort(t *testing.T) {
	words := 0
	for name, page := range readMarkdownPages(t) {
		if strings.HasPrefix(name, "docs/") {
			words += page.words
			if page.lines > maxLinesOfPage {
				t.Errorf("%s: %d lines; the limit is %d", name, page.lines, maxLinesOfPage)
			}
		}
	}
	require.LessOrEqual(t, words, maxWordsOfDocs, "words of docs")
}

func readMarkdownPages(t *testing.T) map[string]*markdownPage {
	t.Helper()
	pages := map[string]*markdownPage{}
	require.NoError(t, filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "dist" || entry.Name() != "." && strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		pages[name] = parseMarkdown(string(text))
		return err
	}))
	return pages
}

func parseMarkdown(text string) *markdownPage {
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	code := regexp.MustCompile("`[^`]*`")
	page := &markdownPage{lines: strings.Count(text, "\n"), words: len(strings.Fields(text)), anchors: map[string]bool{}}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if strings.HasPrefix(line, "#") {
			heading := strings.TrimLeft(line, "#")
			page.levels = append(page.levels, len(line)-len(heading))
			page.addAnchor(heading)
		}
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(line, "code"), -1) {
			if !strings.Contains(match[1], ":") {
				page.links = append(page.links, match[1])
			}
		}
	}
	return page
}

// addAnchor adds the anchor that GitHub and the site give a heading.
func (p *markdownPage) addAnchor(heading string) {
	heading = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
	unique := anchor
	for i := 1; p.anchors[unique]; i++ {
		unique = anchor + "-" + strconv.Itoa(i)
	}
	p.anchors[unique] = true
}
