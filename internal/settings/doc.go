// Package settings reads and writes what users configure: targets.toml and the launch
// configurations in the configuration folder.
//
// Files are replaced as a whole, so that others see the old text or the new one, and are
// private to the user. Errors in them are *[ConfigurationError] with line and column.
package settings
