package nodes

// ParseReports is for fuzzing.
var ParseReports = parseReports
