// Package rmctl is the root of a library for batch systems that are described,
// not programmed: an XML definition says which commands submit, watch and
// control jobs, and how to read what the commands print. It holds no code
// itself. These packages do, from the one that programs start with downwards:
//
//   - [github.com/rmctl/rmctl/cases] tries definitions on recorded commands;
//     [github.com/rmctl/rmctl/cases/casetest] does so in go test.
//   - [github.com/rmctl/rmctl/control] binds a definition to a connection:
//     sessions, submissions, status, output, and what can be done to jobs.
//   - [github.com/rmctl/rmctl/job] has the types of jobs and submissions.
//   - [github.com/rmctl/rmctl/jobstore] remembers submissions and what is known
//     of each job, through crashes and between processes.
//   - [github.com/rmctl/rmctl/form] is a definition's form being filled in, for
//     any kind of screen.
//   - [github.com/rmctl/rmctl/command] runs one command of a definition.
//   - [github.com/rmctl/rmctl/tokenizer] reads a command's output and changes
//     attributes by it. It works on any stream.
//   - [github.com/rmctl/rmctl/config] is the definition as Go types, with all
//     problems of a file and where they stand.
//   - [github.com/rmctl/rmctl/attribute] holds attributes, the references between
//     them, and the rules for values and words of command lines.
//   - [github.com/rmctl/rmctl/remote] is where commands run and files lie.
//   - [github.com/rmctl/rmctl/javaregex] gives expressions the meaning that they
//     have in Java.
//   - [github.com/rmctl/rmctl/state] is the vocabulary of job states.
//   - [github.com/rmctl/rmctl/schemas] and [github.com/rmctl/rmctl/rms] are the
//     schema of the format and the definitions that are shipped.
//
// The program is [github.com/rmctl/rmctl/cmd/rmctl]. docs/library.md leads
// through a program that submits a job and follows it.
package rmctl
