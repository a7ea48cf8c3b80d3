// Package backtrack runs the regular expressions that need backtracking and
// limits them by work instead of time, so that a result never depends on what
// else the machine does.
//
// It is a fork of the small part of github.com/dlclark/regexp2 (v1.12.0, MIT,
// see LICENSE) that runs a compiled expression. The parser and the code
// generator are still those of the module's package syntax. What was changed:
//
//   - The deadline is gone. Every operation, and every rune that a loop, a
//     literal or a backreference passes over, counts as
//     work; [Program.Find] fails with [ErrWork] beyond the limit of its caller.
//   - Operations are functions of a table, and stacks are slices; there
//     was one switch over all operations, and stacks grown by hand.
//   - Classes look up ASCII in a bitmap.
//   - A group keeps only what it matched last.
//   - A search tries each place; it looks for no prefix first.
//   - What javaregex never uses is gone: replacing, names, right-to-left
//     searches (a lookbehind still reads backwards), balanced and conditional
//     groups, ECMAScript and RE2 modes, case-insensitive operations but
//     backreferences, \b, and line anchors. [Compile] refuses them.
package backtrack
