package control

// Flags returns what tells rmctl submit, run or render of a submission: its
// flags, then -- and the program with its arguments.
func (s Submission) Flags() []string {
	var words []string
	option := func(name, value string) {
		if value != "" {
			words = append(words, name, value)
		}
	}
	option("--tab", s.Tab)
	for _, value := range s.Values {
		words = append(words, "-s", value.Name+"="+value.Value)
	}
	for _, variable := range s.Launch.Variables {
		words = append(words, "-e", variable.Name+"="+variable.Value)
	}
	option("-d", s.Directory)
	option("--script", s.ScriptFile)
	if s.Debug {
		words = append(words, "--debug")
	}
	if s.Executable != "" {
		words = append(append(words, "--", s.Executable), s.Arguments...)
	}
	return words
}
