package config_test

import (
	"fmt"
	"log"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
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
	_, problems := config.Load("mysite.xml", source)
	for _, problem := range problems {
		fmt.Println(problem)
	}
	fmt.Println()
	fmt.Println(problems[2].Excerpt(source))
	// Output:
	// mysite.xml:3:5: warning: batch jobs are submitted, and no get-job-status tells what becomes of them (no-status-command)
	// mysite.xml:9:31: error: the entry takes group 1 of an expression with 0 (no-such-group)
	// mysite.xml:14:5: error: "terminate-jobs" is not an element of the format (unknown-element)
	//
	// mysite.xml:14:5: error: "terminate-jobs" is not an element of the format (unknown-element)
	//    14 |     <terminate-jobs name="cancel"><arg>scancel</arg></terminate-jobs>
	//       |     ^
	//         try: terminate-job
}

func ExampleDefinition_Command() {
	definition, problems := config.Load("mysite.xml", []byte(`<resource-manager-builder name="mysite">
  <control-data>
    <attribute name="partition"><description>Partition that the job waits in</description></attribute>
    <terminate-job name="cancel"><arg>scancel ${ptp_rm:@jobId#name}</arg></terminate-job>
  </control-data>
</resource-manager-builder>`))
	if err := problems.Err(); err != nil {
		log.Fatal(err)
	}
	for _, each := range definition.Attributes {
		fmt.Printf("%s: %s (line %d)\n", each.Name(), each.Text(attribute.FieldDescription), each.Line)
	}
	cancel := definition.Command(config.TerminateJob)
	fmt.Println(cancel.Name, "runs", cancel.Arguments[0].Text)
	fmt.Println("holds jobs:", definition.Command(config.HoldJob) != nil)
	// Output:
	// partition: Partition that the job waits in (line 3)
	// cancel runs scancel ${ptp_rm:@jobId#name}
	// holds jobs: false
}
