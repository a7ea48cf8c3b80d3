package control

import (
	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/form"
)

// applyForm takes the value from every visible attribute that the caller did
// not give and that does not count on the tab of the submission, and gives
// viewers theirs. Without a form every attribute counts.
func (c *Controller) applyForm(env *attribute.Environment, s Submission, given map[string]bool) error {
	filled := form.New(c.definition, env)
	page, err := filled.Page(s.Tab, s.ScriptFile != "")
	if err != nil {
		return err
	}
	filled.Given(given)
	filled.Apply(page, given)
	return nil
}
