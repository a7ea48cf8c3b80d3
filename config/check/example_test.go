package check_test

import (
	"fmt"

	"github.com/rmctl/rmctl/config/check"
)

// Load finds all problems of a definition, each with its position.
func ExampleLoad() {
	source := []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="mysite">
  <control-data>
    <submit-batch name="submit" waitForId="true">
      <arg>sbatch</arg>
      <stdout-parser delim="\n">
        <target ref="@jobId">
          <match>
            <expression>Submitted batch job \d+</expression>
            <set field="name"><entry valueGroup="1"/></set>
          </match>
        </target>
      </stdout-parser>
    </submit-batch>
    <terminate-jobs name="cancel"><arg>scancel</arg></terminate-jobs>
  </control-data>
</resource-manager-builder>`)
	_, problems := check.Load("mysite.xml", source, nil)
	for _, problem := range problems {
		fmt.Println(problem)
	}
	fmt.Println()
	fmt.Println(problems[2].Excerpt())
	// Output:
	// mysite.xml:3:5: warning: the definition submits batch jobs but has no get-job-status (no-status-command)
	// mysite.xml:9:31: error: the entry uses group 1, but the expression has 0 (no-such-group)
	// mysite.xml:14:5: error: "terminate-jobs" is not an element of the format (unknown-element)
	//
	// mysite.xml:14:5: error: "terminate-jobs" is not an element of the format (unknown-element)
	//    14 |     <terminate-jobs name="cancel"><arg>scancel</arg></terminate-jobs>
	//       |     ^
	//         try: terminate-job
}
