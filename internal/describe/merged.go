package describe

import "github.com/rmctl/rmctl/config"

// A MergedDefinition is a definition with all that it extends put into it.
type MergedDefinition struct {
	Files []string     `json:"files"` // the definition's own, and each base after the one that extends it
	Parts []mergedPart `json:"parts"`
	Gone  []gonePart   `json:"gone"` // what bases have and the definition has not
	XML   string       `json:"xml"`
}

type mergedPart struct {
	Path      string           `json:"path"`
	Position  string           `json:"position"`
	Sets      []string         `json:"sets,omitempty"`
	Overrides []mergedOverride `json:"overrides,omitempty"`
}

type mergedOverride struct {
	Effect   string `json:"effect"`
	Position string `json:"position"`
}

type gonePart struct {
	Element  string `json:"element"`
	Effect   string `json:"effect"`
	Position string `json:"position"`
	By       string `json:"by"`
}

// Merged describes what came of merging.
func Merged(merged *config.Merged) MergedDefinition {
	printed := MergedDefinition{Files: merged.Files(), Parts: []mergedPart{}, Gone: []gonePart{}, XML: string(merged.XML())}
	for _, part := range merged.Parts() {
		one := mergedPart{Path: part.Path, Position: part.Position.String(), Sets: part.Sets}
		for _, override := range part.Overrides {
			one.Overrides = append(one.Overrides, mergedOverride{string(override.Effect), override.Position.String()})
		}
		printed.Parts = append(printed.Parts, one)
	}
	for _, lost := range merged.Lost() {
		printed.Gone = append(printed.Gone, gonePart{lost.Path, string(lost.Effect), lost.Override.Position.String(), lost.By.String()})
	}
	return printed
}
