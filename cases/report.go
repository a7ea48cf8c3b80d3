package cases

import "encoding/json"

// MarshalJSON encodes the result as rmctl test --json prints it.
func (r Result) MarshalJSON() ([]byte, error) {
	form := struct {
		Folder       string       `json:"folder"`
		Definition   string       `json:"definition,omitempty"`
		Command      string       `json:"command,omitempty"`
		Verdict      Verdict      `json:"verdict"`
		Differences  []Difference `json:"differences,omitempty"`
		Error        string       `json:"error,omitempty"`
		Milliseconds float64      `json:"milliseconds"`
	}{
		Folder: r.Folder, Definition: r.Definition, Command: r.Command, Verdict: r.Verdict, Differences: r.Differences,
		Milliseconds: float64(r.Duration.Microseconds()) / 1000,
	}
	if r.Err != nil {
		form.Error = r.Err.Error()
	}
	return json.Marshal(form)
}
