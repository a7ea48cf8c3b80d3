// Package rmctl_test holds the rules that no single package can keep.
package rmctl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/rmctl/rmctl"

// allowedImports is the house: each folder and what of ours it may import.
// Imports go only downward.
var allowedImports = map[string][]string{
	"cmd/rmctl":                       {".", "attribute", "cases", "coalloc", "command", "config", "config/check", "control", "internal/agent/serve", "internal/agentclient/bridge", "internal/agentdecode", "internal/breaks", "internal/bulk", "internal/casereport", "internal/coverage", "internal/daemon", "internal/debug/adapter", "internal/debug/command", "internal/debug/launch", "internal/definitionformat", "internal/describe", "internal/diagnostics", "internal/doctor", "internal/document", "internal/doubt", "internal/editors", "internal/elements", "internal/ensembles", "internal/files", "internal/form", "internal/hooks", "internal/importer/command", "internal/initial", "internal/inspect", "internal/javaregex", "internal/jobwatch", "internal/listings", "internal/manual", "internal/mutate", "internal/nodes", "internal/onnodes", "internal/polls", "internal/portablename", "internal/ranges", "internal/reader", "internal/record", "internal/recovery", "internal/replay", "internal/requested", "internal/selection", "internal/settings", "internal/stacks", "internal/starter", "internal/suggestion", "internal/terminal", "internal/trace", "internal/tui", "internal/tui/fill", "internal/tui/watch", "internal/views", "internal/waiting", "internal/web", "internal/web/api", "internal/web/listing", "internal/web/pages", "job", "jobstore", "remote", "rms", "tokenizer"},
	"scripts/words":                   {},
	"cmd/rmctl-node":                  {"debug", "internal/callback", "internal/debug/dap", "internal/debug/guard", "internal/debug/mi", "internal/debug/sdm", "internal/debug/server", "internal/execution", "internal/jobdirectory", "internal/ranges", "internal/rank", "internal/rendezvous", "internal/stacks", "internal/stacks/collect", "internal/track", "internal/tree"},
	"internal/jobdirectory":           {"internal/files", "internal/rank", "job"},
	"internal/track":                  {"internal/execution", "internal/jobdirectory", "internal/rank", "job"},
	"internal/tracked":                {"command", "internal/nodes", "internal/polls", "internal/submission", "job", "jobstore", "remote"},
	"internal/onnodes":                {"attribute", "command", "config", "internal/callback", "internal/execution", "internal/hostlist", "internal/inspect", "internal/nodes", "internal/rank", "internal/ranges", "internal/reader", "internal/stacks", "internal/submission", "internal/tree", "job", "remote"},
	"internal/nodes":                  {"internal/execution", "job", "remote"},
	"rsl":                             {"internal/excerpt"},
	"internal/barrier":                {},
	"internal/journal":                {"internal/barrier", "internal/stored"},
	"coalloc":                         {"attribute", "config", "control", "internal/barrier", "internal/document", "internal/execution", "internal/journal", "internal/nodes", "internal/onnodes", "internal/portablename", "internal/quantity", "internal/rendezvous", "internal/settings", "job", "jobstore", "remote", "rsl"},
	".":                               {"config", "config/check", "control", "internal/agentclient/bridge", "internal/daemon", "internal/files", "internal/inspect", "internal/settings", "job", "jobstore", "remote", "remote/openssh", "remote/ssh"},
	"internal/daemon":                 {"internal/execution", "internal/files", "internal/peer", "remote"},
	"internal/rmctltest":              {"internal/daemon", "internal/execution", "internal/remotetest"},
	"cases":                           {"attribute", "command", "config", "config/check", "control", "internal/document", "internal/initial", "internal/inspect", "internal/reader", "job", "jobstore", "remote", "rms", "tokenizer"},
	"cases/casetest":                  {"cases"},
	"control":                         {"attribute", "command", "config", "internal/directory", "internal/excerpt", "internal/files", "internal/follow", "internal/form", "internal/inspect", "internal/launchtab", "internal/listing", "internal/poller", "internal/polls", "internal/presence", "internal/proof", "internal/reader", "internal/recovery", "internal/rendering", "internal/repeated", "internal/requested", "internal/submission", "internal/taskfile", "internal/timezone", "internal/tracked", "internal/transition", "job", "jobstore", "remote", "tokenizer"},
	"internal/follow":                 {"job", "jobstore"},
	"internal/proof":                  {"attribute", "command", "config", "internal/inspect", "job"},
	"internal/listing":                {"attribute", "command", "internal/reader", "internal/timezone", "internal/transition", "job", "tokenizer"},
	"internal/poller":                 {"command", "internal/polls", "tokenizer"},
	"internal/importer":               {"attribute", "config", "config/check", "internal/portablename", "internal/settings", "internal/xmltree", "rms"},
	"jobstore":                        {"internal/journal", "internal/polls", "internal/salvage", "internal/stored", "internal/transition", "job"},
	"internal/form":                   {"attribute", "config", "internal/launchtab", "internal/wording", "job"},
	"command":                         {"attribute", "config", "internal/processmark", "internal/reader", "job", "remote", "tokenizer"},
	"internal/polls":                  {"internal/stored"},
	"internal/quantity":               {},
	"internal/further":                {"internal/plaintext"},
	"internal/doubt":                  {"internal/recovery", "internal/terminal", "internal/tui", "job"},
	"internal/repeated":               {"remote"},
	"internal/recovery":               {"command", "config", "internal/presence", "internal/timezone", "job", "jobstore"},
	"internal/rank":                   {},
	"internal/rendezvous":             {},
	"internal/ranges":                 {},
	"internal/exitstatus":             {},
	"internal/plaintext":              {},
	"internal/tag":                    {},
	"internal/reader":                 {"config", "internal/exitstatus", "internal/further", "internal/hostlist", "internal/plaintext", "internal/quantity", "internal/ranges", "internal/tag", "internal/timezone", "internal/xpath", "job"},
	"internal/hostlist":               {},
	"internal/xpath":                  {},
	"internal/salvage":                {},
	"internal/stored":                 {},
	"tokenizer":                       {"attribute", "config", "internal/javaregex"},
	"config":                          {"attribute", "config/internal/reference", "internal/excerpt", "internal/javaregex", "internal/launchtab", "internal/xmltree", "internal/wording"},
	"attribute":                       {"internal/javaregex"},
	"remote":                          {"internal/execution", "internal/files", "internal/timezone"},
	"remote/internal/channel":         {"internal/execution", "internal/files", "internal/timezone", "remote"},
	"remote/openssh":                  {"internal/execution", "remote", "remote/internal/channel"},
	"internal/remotetest":             {"internal/files", "remote"},
	"remote/ssh":                      {"internal/execution", "remote", "remote/internal/channel"},
	"internal/javaregex":              {"internal/backtrack"},
	"internal/backtrack":              {},
	"model":                           {"internal/vocabulary", "job"},
	"proxy":                           {"model"},
	"internal/agentdecode":            {"internal/terminal", "internal/tui", "proxy"},
	"monitor":                         {"internal/further", "internal/hostlist", "internal/plaintext", "internal/timezone", "internal/transition", "internal/vocabulary", "job", "model"},
	"internal/views":                  {"attribute", "command", "config", "config/check", "control", "internal/agentclient/bridge", "internal/agentclient/definition", "internal/further", "internal/polls", "internal/requested", "internal/secret", "internal/settings", "internal/submission", "internal/vocabulary", "job", "jobstore", "model", "monitor", "remote"},
	"internal/web":                    {"attribute", "coalloc", "command", "config", "control", "internal/form", "internal/peer", "internal/settings", "internal/views", "internal/web/answer", "internal/web/live", "jobstore", "remote"},
	"internal/doctor":                 {"attribute", "command", "config", "config/check", "control", "internal/agentclient/definition", "internal/callback", "internal/excerpt", "internal/execution", "internal/javaregex", "internal/nodes", "internal/onnodes", "internal/submission", "job", "jobstore", "remote"},
	"internal/elements":               {"command", "control", "internal/further", "internal/timezone", "job"},
	"internal/excerpt":                {},
	"internal/initial":                {"attribute"},
	"internal/directory":              {"internal/execution", "remote"},
	"internal/presence":               {},
	"internal/definitionformat":       {"internal/xmltree"},
	"internal/editors":                {"internal/xmltree", "schemas"},
	"internal/ensembles":              {"coalloc", "control", "internal/barrier", "internal/daemon", "internal/execution", "internal/journal", "internal/peer", "internal/settings", "internal/terminal", "internal/tui", "job", "remote", "rsl"},
	"internal/starter":                {"config", "internal/xmltree", "rms"},
	"internal/describe":               {"attribute", "config", "internal/html", "internal/inspect", "internal/launchtab", "internal/portablename", "internal/tui", "job"},
	"internal/trace":                  {"attribute", "config", "internal/inspect", "internal/terminal", "internal/tui", "tokenizer"},
	"internal/replay":                 {"attribute", "command", "config", "control", "internal/initial", "internal/reader", "internal/terminal", "internal/tui", "tokenizer"},
	"internal/listings":               {"internal/elements", "internal/hostlist", "internal/polls", "internal/settings", "internal/terminal", "internal/tui", "job", "jobstore"},
	"internal/suggestion":             {"internal/wording"},
	"internal/terminal":               {"internal/tui", "job", "remote"},
	"internal/tui":                    {"remote"},
	"job":                             {},
	"internal/taskfile":               {"internal/ranges", "job"},
	"internal/transition":             {"internal/timezone", "job"},
	"internal/settings":               {"attribute", "internal/document", "internal/form", "internal/submission", "internal/wording", "job", "rms"},
	"internal/requested":              {"config", "internal/document", "job"},
	"internal/bulk":                   {},
	"internal/selection":              {"control", "internal/settings", "job", "jobstore"},
	"internal/rendering":              {"attribute", "command", "config", "internal/submission", "job"},
	"internal/submission":             {"attribute", "config", "internal/directory", "internal/files", "internal/form", "internal/inspect", "internal/launchtab", "internal/portablename", "internal/wording", "job", "remote", "rms"},
	"internal/document":               {"internal/wording", "job"},
	"internal/html":                   {},
	"internal/lazyregexp":             {},
	"internal/sorting":                {},
	"schemas":                         {"internal/xmltree", "internal/wording"},
	"internal/wording":                {},
	"rms":                             {},
	"internal/web/answer":             {},
	"internal/web/live":               {"internal/html", "internal/web/answer", "model"},
	"internal/web/listing":            {"internal/further", "internal/vocabulary", "job", "model"},
	"internal/web/usage":              {"internal/settings", "internal/vocabulary", "internal/web/listing", "model"},
	"internal/web/launch":             {"attribute", "command", "control", "internal/directory", "internal/form", "internal/launchtab", "internal/submission", "internal/web/answer", "internal/web/listing", "job"},
	"internal/web/pages":              {"attribute", "coalloc", "command", "control", "internal/directory", "internal/form", "internal/html", "internal/portablename", "internal/requested", "internal/settings", "internal/stacks", "internal/transition", "internal/views", "internal/vocabulary", "internal/web/answer", "internal/web/launch", "internal/web/listing", "internal/web/live", "internal/web/usage", "internal/wording", "job", "jobstore", "model", "monitor"},
	"internal/web/api":                {"attribute", "coalloc", "command", "config", "control", "internal/document", "internal/elements", "internal/form", "internal/peer", "internal/requested", "internal/settings", "internal/submission", "internal/views", "internal/vocabulary", "internal/web/answer", "internal/web/launch", "internal/web/listing", "job", "jobstore", "model"},
	"internal/web/webtest":            {"config", "config/check", "internal/views", "internal/vocabulary", "model", "rms"},
	"internal/record":                 {"attribute", "cases", "command", "config", "internal/initial", "internal/secret", "job", "remote"},
	"internal/breaks":                 {"cases", "config", "config/check", "internal/tui"},
	"internal/mutate":                 {"cases", "command", "config", "internal/tui", "job", "rms"},
	"config/check":                    {"attribute", "config", "config/internal/reference", "internal/inspect", "internal/javaregex", "internal/launchtab", "internal/portablename", "internal/processmark", "internal/xmltree", "internal/wording", "internal/xpath", "job", "rms", "schemas"},
	"internal/coverage":               {"attribute", "cases", "config", "internal/reader", "internal/tui", "job", "tokenizer"},
	"internal/casereport":             {"cases", "internal/tui"},
	"internal/portablename":           {"config", "internal/wording"},
	"internal/inspect":                {"attribute", "config"},
	"internal/launchtab":              {"internal/xmltree"},
	"internal/processmark":            {},
	"internal/xmltree":                {},
	"config/internal/reference":       {},
	"internal/diagnostics":            {"config", "config/check", "internal/terminal", "internal/tui"},
	"internal/hooks":                  {"internal/terminal", "internal/tui", "jobstore", "job"},
	"internal/manual":                 {},
	"internal/vocabulary":             {},
	"internal/elffile":                {},
	"internal/execution":              {},
	"internal/files":                  {},
	"internal/timezone":               {},
	"internal/tree":                   {"internal/ranges"},
	"internal/peer":                   {"internal/execution", "remote"},
	"internal/agent":                  {"attribute", "config", "internal/execution", "internal/form", "internal/portablename", "internal/submission", "internal/vocabulary", "job", "model", "proxy"},
	"internal/agent/serve":            {"config", "control", "internal/agent", "internal/agenttrace", "internal/nodes", "internal/peer", "internal/presence", "internal/views", "internal/vocabulary", "job", "jobstore", "proxy", "remote"},
	"internal/agentclient":            {"internal/execution", "internal/plaintext", "internal/vocabulary", "model", "proxy", "remote"},
	"internal/agentclient/bridge":     {"attribute", "config", "internal/agentclient", "internal/agentclient/definition", "internal/agenttrace", "internal/execution", "internal/further", "internal/peer", "internal/plaintext", "internal/sorting", "internal/vocabulary", "job", "model", "proxy", "remote"},
	"internal/agentclient/definition": {"internal/lazyregexp", "internal/vocabulary", "internal/wording", "job", "proxy"},
	"internal/agentclient/agenttest":  {"proxy", "remote"},
	"internal/tui/watch":              {"coalloc", "control", "internal/tui", "internal/views", "internal/vocabulary", "job", "jobstore", "model", "monitor", "remote"},
	"internal/tui/fill":               {"attribute", "control", "internal/directory", "internal/form", "internal/launchtab", "internal/settings", "internal/submission", "internal/tui", "job", "remote"},
	"internal/waiting":                {"control", "internal/hooks", "internal/selection", "internal/terminal", "job", "jobstore"},
	"internal/jobwatch":               {"control", "internal/hooks", "internal/selection", "internal/terminal", "internal/tui", "job", "jobstore", "remote"},
	"internal/callback":               {},
	"internal/secret":                 {},
	"internal/agenttrace":             {"internal/secret", "proxy"},
	"internal/stacks":                 {"internal/plaintext", "internal/ranges"},
	"internal/stacks/collect":         {"internal/debug/guard", "internal/debug/mi", "internal/elffile", "internal/plaintext", "internal/stacks"},
	"internal/stacks/stackstest":      {},
	"internal/debug/guard":            {},
	"internal/debug/debugtest":        {},
	"internal/debug/mi":               {"debug", "internal/debug/guard"},
	"internal/debug/command":          {"debug", "internal/debug/prompt", "internal/files", "internal/peer", "internal/ranges", "internal/terminal", "job"},
	"internal/debug/prompt":           {"debug", "internal/files", "internal/ranges", "internal/terminal", "internal/tui"},
	"internal/debug/server":           {"debug", "internal/debug/guard", "internal/elffile", "internal/execution", "internal/ranges"},
	"internal/debug/sdm":              {"debug", "internal/ranges", "internal/rank", "internal/tree", "proxy"},
	"internal/debug/dap":              {"debug", "internal/debug/guard"},
	"debug":                           {"internal/ranges"},
	"internal/importer/command":       {"internal/importer", "internal/settings", "internal/terminal", "internal/tui"},
	"internal/debug/launch":           {"config", "control", "debug", "internal/debug/server", "internal/nodes", "internal/onnodes", "internal/ranges", "internal/stacks", "job", "remote"},
	"internal/debug/adapter":          {"debug", "internal/ranges"},
}

// allowedEverywhere are the packages that every other one may import.
var allowedEverywhere = []string{"internal/lazyregexp", "internal/sorting"}

func TestPackagesImportOnlyDownward(t *testing.T) {
	found := map[string]bool{}
	walkGo(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		allowed, known := allowedImports[folder]
		require.True(t, known, "%s is in a folder that the house does not have; add it to allowedImports with what it may import", path)
		found[folder] = true
		for _, imported := range importsOf(t, path) {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if imported == module {
				ours, isOurs = ".", true
			}
			if isOurs && !slices.Contains(allowedEverywhere, ours) {
				require.Contains(t, allowed, ours, "%s must not import %s", path, ours)
			}
		}
	})
	for folder := range allowedImports {
		require.True(t, found[folder], "folder %s is listed but holds no package", folder)
	}
}

func TestTestsUseOnlyRequire(t *testing.T) {
	walkGo(t, func(path string) {
		require.NotContains(t, importsOf(t, path), "github.com/stretchr/testify/"+"assert", "%s: a failed check must stop the test", path)
	})
}

// mostComplex is the cyclomatic complexity that a function may have.
const mostComplex = 15

func TestFunctionsStayReadable(t *testing.T) {
	walkGo(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			function, isFunction := declaration.(*ast.FuncDecl)
			if !isFunction {
				continue
			}
			require.LessOrEqual(t, complexityOf(function), mostComplex, "%s: take %s apart, so that it reads from top to bottom", path, function.Name.Name)
		}
	})
}

// complexityOf counts the ways through a function, as gocyclo does: one, and one more for
// each branch, loop, case and logical operator, those of function literals included.
func complexityOf(function *ast.FuncDecl) int {
	complexity := 1
	ast.Inspect(function, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			complexity++
		case *ast.CaseClause:
			if n.List != nil {
				complexity++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				complexity++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				complexity++
			}
		}
		return true
	})
	return complexity
}

func importsOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	var imports []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		imports = append(imports, imported)
	}
	return imports
}

func walkGo(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if slices.Contains([]string{"testdata", "docs"}, name) || name != "." && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ".go") {
			visit(path)
		}
		return nil
	})
	require.NoError(t, err)
	_, err = os.Stat("go.mod")
	require.NoError(t, err, "the test must run in the module's root")
}
