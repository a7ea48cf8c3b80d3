package config

import "slices"

// ManagedFiles is a group of files that are staged before a submission.
type ManagedFiles struct {
	Position
	StagingLocation Optional
	Files           []*File
}

// A File is one managed file; its content comes from exactly one of Lines,
// Contents and Path.
type File struct {
	Position
	Name                 string
	UniqueIDPrefix       bool
	ResolveContents      bool
	DeleteSourceAfterUse bool
	DeleteTargetAfterUse bool
	Mode                 string // octal permissions, empty for 0600
	Lines                []*Line
	Contents             Optional
	Path                 Optional
	IsBeside             bool // x:beside: Path is the name of a file next to the definition
}

// A Script is the job script's template.
type Script struct {
	Position
	StagingLocation        Optional
	InsertEnvironmentAfter int // index of a line from 0; negative inserts nothing
	DeleteAfterSubmit      bool
	Lines                  []*Line
	OptionPrefix           string // x:options: the prefix of lines with options of the submit command; empty for none
}

// A Line is a line of a script or file, joined from its arguments.
type Line struct {
	Position
	Arguments []*Argument
}

// SourceOf returns the text of the file that a position is in; nil for no file of the
// definition.
func (d *Definition) SourceOf(at Position) []byte {
	if i := slices.Index(d.Files, at.File); i >= 0 {
		return d.Sources[i]
	}
	return nil
}
