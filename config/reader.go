package config

// A Reader (x:reader, or the content of x:read) describes how the output of a command becomes
// records, and where a record has its id, its state and facts. Inherited settings are
// included.
type Reader struct {
	Position
	Name        string
	None        []string // words that mean "no value", in any field
	Needs       []string // required fields: a record without them is truncated; alternatives separated by |
	RepeatsLast bool     // of several records with one id the last counts, as in accounting
	EndsOnly    bool     // believed about jobs that have ended, and about no others
	Sources     []*Source
	ID          XPath   // x:id: the id of a record; unset for records without ids, such as settings
	Alias       XPath   // another id of the same job
	Tasks       *Tasks  // nil where only ids separate tasks
	States      *States // nil where records have no states
	Facts       []*Fact
	Joins       []*Join
	Absent      *Absent // nil without a rule for missing jobs
}

// An Absent (x:absent) is the condition under which the job does not exist. It is evaluated on
// the last record of a source without ids, otherwise on an empty one with the joins that
// belong to every record.
type Absent struct {
	Position
	Within XPath // x:find-job only: of submissions that are younger; a length of time, or an expression for one
	Since  XPath // x:find-job only: of submissions after this time
	Unless XPath // not while this is true
	// x:find-job only: ids of jobs that do not say which submission they are of. Those on record
	// for another one do not count.
	Candidates XPath

	// Of get-job-status only: the state of a job that no command finds, once it has been
	// missing for some time.
	Is     string // a state; empty for none
	After  XPath  // a length of time, or an expression for one
	Reason string // explains the state
}

// An XPath is an expression of XPath 1.0 over a record, or a list of names of fields: the
// first with a value counts. Its Text is empty if the definition has no expression.
type XPath struct {
	Position // of the first character of the expression
	Text     string
}

// IsSet reports whether there is an expression.
func (x XPath) IsSet() bool { return x.Text != "" }

// A Pattern is an expression in the syntax of Go (RE2). Its Text is empty if the definition has no pattern.
type Pattern struct {
	Position // of the first character of the pattern
	Text     string
}

// IsSet reports whether there is a pattern.
func (p Pattern) IsSet() bool { return p.Text != "" }

// The forms of output.
const (
	Table   = "table"   // rows of columns
	Stanzas = "stanzas" // records of several lines
	Lines   = "lines"   // a record for each line that an expression matches
	Log     = "log"     // events of jobs
	JSON    = "json"
	XML     = "xml"
)

// MarkSeparator is the separator of a table in which the query's mark ends each column.
const MarkSeparator = "mark"

// A Source (x:table, x:stanzas, …) turns output into records of named fields.
type Source struct {
	Position
	Kind  string
	Where XPath // records for which it is false are left out
	Group XPath // records with the same value become one, with the children row
	Total XPath // the number of records according to the output; over the whole document, of JSON and XML only
	// Expand names fields that hold lists of names or numbers, such as n[01-04] or 0-3: a record
	// becomes one for each item. The lists of a record go together.
	Expand []string

	Columns   []string // names of columns, or of the groups of Expression or Begin
	Separator string   // x:table only; MarkSeparator for the query's mark, empty for blanks
	Header    bool     // x:table only: the first line names the columns
	Heading   Pattern  // x:table only: matches the line with the column names, after any prefix
	Quote     string   // x:table with a separator only: may stand around columns
	Widths    []int    // x:table only: characters of each column but the last; nil without fixed widths

	Begin      Pattern  // x:stanzas, x:log: matches the whole line that begins a record, or a part at its start for x:stanzas
	Field      Pattern  // x:stanzas: a key and a value, several times in a line
	Continued  Pattern  // x:stanzas, x:log: the beginning of a line that continues the one before
	Rest       []string // x:stanzas: fields that extend to the end of their line; x:table with a separator: the last column does
	Repeated   []string // x:stanzas: fields that may repeat in a record
	TotalLine  Pattern  // x:stanzas: matches a whole line before or after the records that has their number
	MayBeEmpty bool     // x:stanzas: an output without text has no records, though it has no such line
	Until      string   // x:stanzas: the field after which the rest of the record is ignored

	Expression Pattern // x:lines: matches a whole line
	Only       bool    // x:lines: counts only if it is the only line

	Time  Pattern     // x:log: the time that begins an event; its first group is the time
	End   Pattern     // x:log: matches a whole line that complete output has; unset for none
	Lines []*LogEvent // x:log

	Each XPath // x:json, x:xml: the records in the document
}

// A LogEvent (x:line) is a kind of event in a log.
type LogEvent struct {
	Position
	Expression Pattern  // matches the whole event, after its time
	Columns    []string // names of the groups, which are set as fields
	Time       string   // field that the event's time is set as; empty for none
	Clears     []string // fields that are emptied first
}

// Tasks (x:tasks) describes the tasks that a record is about.
type Tasks struct {
	Position
	Of       XPath    // a number, or ranges such as [3,6-9%1] and 1-12:1
	None     []string // words that mean that the record is about no single task
	Count    XPath    // how many tasks the job has, as a number or as ranges
	Complete XPath    // a condition for the end of an array
	// WithWhole is a condition: the scheduler reports the whole job beside its tasks. An end
	// counts only if both have ended. Where it is false the job has no tasks.
	WithWhole XPath
	// WholeYields makes a record of the whole job count only if none of its tasks has one.
	WholeYields bool
}

// States (x:states) is the table of states.
type States struct {
	Position
	Of    XPath  // the scheduler's word
	Split string // separates words, which are translated one by one; empty for one word
	Rows  []*StateRow
}

// A StateRow (x:state) maps words of a scheduler to a state. The first that fits counts.
type StateRow struct {
	Position
	Is      string
	Words   []string // empty, and no Matches: any word
	Matches Pattern  // matches the whole word
	Test    XPath    // a further condition
	Reason  string   // explains a word that users cannot know
	Ask     bool     // in a listing: the job's own status has more
	Yields  bool     // another record of the same job or task counts in its place
	Beside  string   // the state of a task where other tasks of the job are in other rows; empty for Is

	Inherited bool // from the reader that this one extends
}

// A Fact (x:fact) is something that a record says about its element, or the value of an
// attribute. Of several with one name the first that has a value counts.
type Fact struct {
	Position
	Name      string // empty with Attribute
	Attribute string // sets this attribute of the definition to a list of all records' values
	From      XPath
	As        string // how the text is understood, a word of the schema; empty for "text"
	When      XPath
	None      []string // words that mean "no value"
	Text      string   // words it; {} is the value
	Append    Optional // with it the fact is added to one that has a value, after this text
	SameAs    string   // repeats another fact

	Find  Pattern // a part of the value: its first group, or the whole
	Split string  // separates the items of a list

	Format     string   // as="time": layouts of Go separated by |, in place of the known forms
	To         string   // as="time": minute or second, to which it is cut, or a layout of Go that it is written in
	Unit       string   // as="bytes", "duration": of a bare number
	SignalBase []int    // as="exit-status"
	Base       XPath    // as="path": the folder of a relative path
	Words      []string // as="path": placeholders, as word=XPath
	Default    XPath    // as="path": the file in a path that is a folder

	Inherited bool // from the reader that this one extends
}

// A Join (x:join) adds the records of another command to a record, as children with its name.
type Join struct {
	*Command
	By       XPath // in its records: the id; the id's From if unset
	ByAll    bool  // by="": every record gets all of them
	With     XPath // in the records of the command: compared with By; their id if unset
	Split    string
	When     XPath // runs only if this is true of some record
	Optional bool  // may fail
	Reader   *Reader
}

// A Batch (x:for) runs a command once for each batch of ids that another one prints.
// The attribute query.ids has the ids of the batch.
type Batch struct {
	*Command
	Size      int    // ids in a batch
	Separator string // between them
	// Where a pattern matches the value of an attribute, such as the scope of a listing, there
	// are no ids: the command runs once.
	Attribute, IsUndefinedIfMatches Optional
	Reader                          *Reader
}

// BatchIDs is the name that Needed has for the command of an x:for.
const BatchIDs = "ids"

// Needed returns the commands that must run first, by the names of their joins; that of an
// x:for is [BatchIDs].
func (c *Command) Needed() map[string]*Command {
	needed := map[string]*Command{}
	if c.Read != nil {
		for _, join := range c.Read.Joins {
			needed[join.Name] = join.Command
		}
	}
	if c.Batch != nil {
		needed[BatchIDs] = c.Batch.Command
	}
	return needed
}

// IDs (x:ids) describes the syntax of job ids.
type IDs struct {
	Position
	Form    Pattern  // matches the whole id
	Columns []string // names of its groups: job and task
	Drop    Pattern  // is removed from ids that users give
	// Replacement replaces the matches of Drop.
	Replacement string
	// Own matches the whole id of a task that is a job of its own where no job is queried,
	// such as in listings: it was submitted by itself.
	Own Pattern
	// Outputs are pairs TEXT=TEXT: what the path of a job's output has, and what that of a task has
	// instead; @job and @task are the parts of the id.
	Outputs []string
	// IgnoreCase makes the case of letters in ids irrelevant.
	IgnoreCase bool
}
