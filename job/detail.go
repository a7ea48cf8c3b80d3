package job

// A Detail is a state of a job. Every detail refines one of the five primary states
// UNDETERMINED, SUBMITTED, SUSPENDED, RUNNING and COMPLETED, and each of these refines
// itself. The zero value means that nothing is known and equals Undetermined in
// every method.
type Detail string

// The details, in the usual order of a job's life.
const (
	Undetermined        Detail = "UNDETERMINED"
	Submitted           Detail = "SUBMITTED"
	QueuedActive        Detail = "QUEUED_ACTIVE"         // waiting to be scheduled
	SystemOnHold        Detail = "SYSTEM_ON_HOLD"        // held by the system or an administrator
	UserOnHold          Detail = "USER_ON_HOLD"          // held by the user
	UserSystemOnHold    Detail = "USER_SYSTEM_ON_HOLD"   // held by both
	Suspended           Detail = "SUSPENDED"             // stopped, by whom is not known
	SystemSuspended     Detail = "SYSTEM_SUSPENDED"      // stopped by the system
	UserSuspended       Detail = "USER_SUSPENDED"        // stopped by the user
	UserSystemSuspended Detail = "USER_SYSTEM_SUSPENDED" // stopped by both
	Running             Detail = "RUNNING"
	Completed           Detail = "COMPLETED"
	Failed              Detail = "FAILED"           // ended abnormally
	Canceled            Detail = "CANCELED"         // ended by a user's request
	OutputReady         Detail = "JOB_OUTERR_READY" // ended, and the output files are there
)

var primaryOf = map[Detail]Detail{
	Undetermined:        Undetermined,
	Submitted:           Submitted,
	QueuedActive:        Submitted,
	SystemOnHold:        Submitted,
	UserOnHold:          Submitted,
	UserSystemOnHold:    Submitted,
	Suspended:           Suspended,
	SystemSuspended:     Suspended,
	UserSuspended:       Suspended,
	UserSystemSuspended: Suspended,
	Running:             Running,
	Completed:           Completed,
	Failed:              Completed,
	Canceled:            Completed,
	OutputReady:         Completed,
}

// ParseDetail returns the detail with the exact name that definitions use. For any other text
// it reports false: the caller then keeps the known state and shows the scheduler's own word.
func ParseDetail(text string) (Detail, bool) {
	_, known := primaryOf[Detail(text)]
	if !known {
		return Undetermined, false
	}
	return Detail(text), true
}

// Details returns every detail, in the order of the constants.
func Details() []Detail {
	return []Detail{
		Undetermined, Submitted, QueuedActive, SystemOnHold, UserOnHold, UserSystemOnHold,
		Suspended, SystemSuspended, UserSuspended, UserSystemSuspended, Running,
		Completed, Failed, Canceled, OutputReady,
	}
}

// Primary returns the primary state that d refines.
func (d Detail) Primary() Detail {
	if primary, known := primaryOf[d]; known {
		return primary
	}
	return Undetermined
}

var wordOf = map[Detail]string{
	Undetermined:        "UNKNOWN",
	Submitted:           "QUEUED",
	QueuedActive:        "QUEUED",
	SystemOnHold:        "HELD",
	UserOnHold:          "HELD",
	UserSystemOnHold:    "HELD",
	Suspended:           "SUSPENDED",
	SystemSuspended:     "SUSPENDED",
	UserSuspended:       "SUSPENDED",
	UserSystemSuspended: "SUSPENDED",
	Running:             "RUNNING",
	Completed:           "COMPLETED",
	Failed:              "FAILED",
	Canceled:            "CANCELED",
	OutputReady:         "COMPLETED",
}

// Word returns the one word that people see for d on every screen. JSON has d and its
// primary state instead.
func (d Detail) Word() string {
	if word, known := wordOf[d]; known {
		return word
	}
	return wordOf[Undetermined]
}

// Ended reports whether a job in this state will never run again.
func (d Detail) Ended() bool { return d.Primary() == Completed }

// OnHold reports whether the job waits to be released.
func (d Detail) OnHold() bool {
	return d == SystemOnHold || d == UserOnHold || d == UserSystemOnHold
}
