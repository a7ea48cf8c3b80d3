// Package submission resolves submissions: a [Resolver] turns what a user asks for into
// values of attributes, files and command lines, by one definition for one place. It
// runs nothing and keeps nothing.
package submission
