package check_test

import (
	"fmt"

	"github.com/rmctl/rmctl/config/check"
)

// All problems of a definition are found in one go, each with its place.
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
	// mysite.xml:3:5: warning: batch jobs are submitted, and no get-job-status reports their state (no-status-command)
	// mysite.xml:9:31: error: the entry takes group 1 of an expression with 0 (no-such-group)
	// mysite.xml:14:5: error: "terminate-jobs" is not an element of the format (unknown-element)
	//
	// mysite.xml:14:5: error: "terminate-jobs" is not an element of the format (unknown-element)
	//    14 |     <terminate-jobs name="cancel"><arg>scancel</arg></terminate-jobs>
	//       |     ^
	//         try: terminate-job
}
