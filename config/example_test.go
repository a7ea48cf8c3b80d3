package config_test

import (
	"fmt"
	"log"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
)

func ExampleDefinition_Command() {
	definition, problems := check.Load("mysite.xml", []byte(`<resource-manager-builder name="mysite">
  <control-data>
    <attribute name="partition"><description>Partition that the job waits in</description></attribute>
    <terminate-job name="cancel"><arg>scancel ${ptp_rm:@jobId#name}</arg></terminate-job>
  </control-data>
</resource-manager-builder>`), nil)
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
