package form_test

import (
	"fmt"
	"log"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/form"
)

// A form is shown field by field; what is set shows and hides others, and in the
// end it has the values for a submission.
func Example() {
	definition, err := config.Read("site.xml", []byte(`<resource-manager-builder name="site"><control-data>
		<attribute name="mail" type="boolean"/>
		<attribute name="address"><description>who gets mail</description></attribute>
		<launch-tab><dynamic><title>Basic</title>
			<widget type="checkbox" title="Send mail" buttonId="mail" attribute="mail"/>
			<widget type="text" title="Address:" attribute="address"><control-state><show-if button="mail"/></control-state></widget>
		</dynamic></launch-tab>
	</control-data></resource-manager-builder>`), nil)
	if err != nil {
		log.Fatal(err)
	}
	environment := attribute.NewEnvironment()
	for _, defined := range definition.Attributes {
		environment.Define(defined.Name(), defined.Attribute)
	}
	filled := form.New(definition, environment)
	page := filled.Pages()[0]
	for _, text := range []string{"true", "ada@example.org"} {
		fields := filled.Fields(page)
		last := fields[len(fields)-1]
		fmt.Printf("%s: %s (%s)\n", last.Kind, last.Label, last.Hint)
		if err := filled.Set(last, text, nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(filled.Values(page))
	// Output:
	// switch: Send mail ()
	// text: Address (who gets mail)
	// [{address ada@example.org} {mail true}]
}
