// Package settings reads and writes targets.toml and saved submissions.
//
// Files are private to the user and replaced as a whole. Mistakes in them are
// *[ConfigurationError] with line and column.
package settings
