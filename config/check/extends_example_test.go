package check_test

import (
	"fmt"
	"log"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/rms"
)

func ExampleLoad_extends() {
	site := []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="mysite" x:extends="slurm">
  <control-data>
    <attribute name="partition"><default>batch</default></attribute>
  </control-data>
</resource-manager-builder>`)
	shipped := func(name, _ string) (string, []byte, error) {
		source, found := rms.Source(name)
		if !found {
			return "", nil, fmt.Errorf("no definition %q is shipped", name)
		}
		return name + ".xml", source, nil
	}
	definition, problems := check.Load("mysite.xml", site, shipped)
	if err := problems.Err(); err != nil {
		log.Fatal(err)
	}
	partition := definition.Attribute("partition")
	fmt.Println(definition.Files)
	fmt.Println(partition.Text(attribute.FieldDefault), partition.Text(attribute.FieldDescription))
	// Output:
	// [mysite.xml slurm.xml]
	// batch Partition (queue), or several separated by commas
}
