package diagnostics

import (
	"encoding/xml"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
)

// SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0), as much of it as
// problems of definitions need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		ColumnKind  string            `json:"columnKind"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string       `json:"id"`
		ShortDescription     sarifMessage `json:"shortDescription"`
		Help                 sarifMessage `json:"help"`
		HelpURI              string       `json:"helpUri"`
		DefaultConfiguration struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		ExecutionSuccessful        bool                `json:"executionSuccessful"`
		ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		PhysicalLocation struct {
			ArtifactLocation sarifArtifact `json:"artifactLocation"`
			Region           sarifRegion   `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"` // in characters
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifFix struct {
		Description     sarifMessage  `json:"description"`
		ArtifactChanges []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		ArtifactLocation sarifArtifact      `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifRegion  `json:"deletedRegion"`
		InsertedContent sarifMessage `json:"insertedContent"`
	}
)

const (
	homepage        = "https://github.com/rmctl/rmctl"
	diagnosticsPage = homepage + "/blob/main/docs/reference/diagnostics.md"
)

// SARIF returns problems of definitions as one document. Unreadable has the reasons
// why files could not be read; version is the program's.
func SARIF(problems []config.Diagnostic, unreadable []string, version string) any {
	codes := check.Codes()
	run := sarifRun{
		ColumnKind:  "unicodeCodePoints",
		Tool:        sarifTool{sarifDriver{Name: "rmctl", Version: version, InformationURI: homepage, Rules: sarifRules(codes)}},
		Invocations: []sarifInvocation{{ExecutionSuccessful: len(unreadable) == 0}},
		Results:     []sarifResult{},
	}
	for _, reason := range unreadable {
		run.Invocations[0].ToolExecutionNotifications = append(run.Invocations[0].ToolExecutionNotifications,
			sarifNotification{Level: "error", Message: sarifMessage{reason}})
	}
	for _, problem := range problems {
		index := slices.IndexFunc(codes, func(code check.Code) bool { return code.Name == problem.Code })
		run.Results = append(run.Results, sarifResultOf(problem, index))
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func sarifRules(codes []check.Code) []sarifRule {
	rules := make([]sarifRule, 0, len(codes))
	for _, code := range codes {
		page := diagnosticsPage + "#" + code.Name
		rule := sarifRule{ID: code.Name, ShortDescription: sarifMessage{code.Summary}, HelpURI: page,
			Help: sarifMessage{code.Summary + " What it means and how to fix it: " + page}}
		rule.DefaultConfiguration.Level = string(code.Severity)
		rules = append(rules, rule)
	}
	return rules
}

func sarifResultOf(problem config.Diagnostic, rule int) sarifResult {
	message := problem.Message
	if advice := problem.Advice(); advice != "" {
		message += ". " + strings.ToUpper(advice[:1]) + advice[1:]
	}
	result := sarifResult{RuleID: problem.Code, RuleIndex: rule, Level: string(problem.Severity), Message: sarifMessage{message}}
	artifact := sarifArtifact{sarifURI(problem.File)}
	region, replaceable := sarifRegionOf(problem)
	var location sarifLocation
	location.PhysicalLocation.ArtifactLocation, location.PhysicalLocation.Region = artifact, region
	result.Locations = []sarifLocation{location}
	if replaceable {
		result.Fixes = []sarifFix{{
			Description: sarifMessage{"Replace " + problem.Replaces + " with " + problem.Suggestion},
			ArtifactChanges: []sarifChange{{artifact, []sarifReplacement{{
				DeletedRegion: region, InsertedContent: sarifMessage{xmlText(problem.Suggestion)},
			}}}},
		}}
	}
	return result
}

// sarifRegionOf returns the region of a problem, and whether the file has the
// text to replace there literally: text with references such as &lt; is longer in
// the file than in the definition.
func sarifRegionOf(problem config.Diagnostic) (region sarifRegion, replaceable bool) {
	region = sarifRegion{StartLine: max(problem.Line, 1), StartColumn: max(problem.Column, 1)}
	line, ok := problem.SourceLine()
	at := problem.Column - 1
	if !ok || at < 0 || at > len(line) {
		return region, false
	}
	region.StartColumn = utf8.RuneCountInString(line[:at]) + 1
	if problem.Replaces == "" || !strings.HasPrefix(line[at:], problem.Replaces) {
		return region, false
	}
	region.EndColumn = region.StartColumn + utf8.RuneCountInString(problem.Replaces)
	return region, true
}

// sarifURI returns the address of a file: relative as it was given, or of the
// scheme file.
func sarifURI(file string) string {
	address := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		address.Scheme = "file"
	}
	return address.String()
}

func xmlText(text string) string {
	var escaped strings.Builder
	if err := xml.EscapeText(&escaped, []byte(text)); err != nil {
		return text // a strings.Builder does not fail
	}
	return escaped.String()
}
