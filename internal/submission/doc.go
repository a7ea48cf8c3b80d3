// Package submission resolves submissions: a [Resolver] turns a request into values of attributes,
// files and command lines, for one definition on one target. It runs nothing.
package submission
