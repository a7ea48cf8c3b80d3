package schemas

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEmbeddedSchemasCompile(t *testing.T) {
	set, err := embedded()
	require.NoError(t, err)
	require.Contains(t, set.elements, "resource-manager-builder")
	for _, name := range []string{"list-jobs", "list-ended", "list-nodes", "list-queues", "find-job", "on-nodes", "fallback", "outcome", "probe"} {
		require.Contains(t, set.elements, "x:"+name)
		require.NotEmpty(t, set.elements["x:"+name].within)
	}
	for _, name := range []string{"timeout", "extends", "remove", "replace", "at", "before", "after"} {
		require.Contains(t, set.attributes, "x:"+name)
	}
}

func TestSchemaTextsAreThoseOfTheFiles(t *testing.T) {
	for path, text := range map[string]string{"rm.xsd": rmText, "ext.xsd": extensionsText} {
		source, err := os.ReadFile(filepath.Join(".", path))
		require.NoError(t, err)
		require.Equal(t, string(source), text)
	}
}

func TestInvalidSchemasAreRefused(t *testing.T) {
	const begin = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:rm="http://eclipse.org/ptp/rm"
		targetNamespace="http://eclipse.org/ptp/rm" elementFormDefault="qualified" attributeFormDefault="unqualified">`
	simple := func(content string) string { return `<xs:simpleType name="t">` + content + `</xs:simpleType>` }
	complex := func(content string) string { return `<xs:complexType name="t">` + content + `</xs:complexType>` }
	for content, reason := range map[string]string{
		`<xs:element name="e" type="rm:absent"/>`:      `refers to nothing`,
		`<xs:element name="e" type="xs:date"/>`:        `"date" is not known`,
		`<xs:element name="e"/><xs:element name="e"/>`: `one that is taken: "e"`,
		`<xs:element/>`: `has no name`,
		simple(`<xs:restriction base="xs:string"><xs:pattern value="\d+"/></xs:restriction>`):                                 `"\\d" in the pattern`,
		simple(`<xs:restriction base="xs:string"><xs:pattern value="(a"/></xs:restriction>`):                                  `compile the pattern "(a"`,
		simple(`<xs:restriction base="xs:int"><xs:minInclusive value="few"/></xs:restriction>`):                               `minInclusive`,
		simple(`<xs:restriction base="rm:t"/>`):                                                                               `refers to itself`,
		simple(``):                                                                                                            `neither a list nor a restriction`,
		complex(`<xs:sequence/><xs:choice/>`):                                                                                 `more than one content model`,
		complex(`<xs:sequence><xs:element name="a" minOccurs="-1"/></xs:sequence>`):                                           `minOccurs`,
		complex(`<xs:sequence><xs:element name="a" maxOccurs="65"/></xs:sequence>`):                                           `maxOccurs`,
		complex(`<xs:sequence><xs:element name="a" minOccurs="2"/></xs:sequence>`):                                            `contradict each other`,
		complex(`<xs:sequence><xs:any namespace="##local" processContents="lax"/></xs:sequence>`):                             `the wildcard`,
		complex(`<xs:sequence><xs:any namespace="##any"/></xs:sequence>`):                                                     `the wildcard`,
		complex(`<xs:sequence><xs:element name="a" minOccurs="0"/><xs:element name="a"/></xs:sequence>`):                      `"a" fits two places`,
		complex(`<xs:attribute name="a" type="xs:int" use="prohibited"/>`):                                                    `the use "prohibited" is not known`,
		complex(`<xs:attribute name="a" type="xs:int" default="x"/>`):                                                         `the default of "a"`,
		complex(`<xs:attribute name="a" type="xs:int"/><xs:attribute name="a" type="xs:int"/>`):                               `declared twice`,
		complex(`<xs:group ref="rm:g"/>`) + `<xs:group name="g"><xs:sequence><xs:group ref="rm:g"/></xs:sequence></xs:group>`: `refers to itself`,
	} {
		_, err := compile(begin + content + `</xs:schema>`)
		require.ErrorContains(t, err, reason, content)
	}
	_, err := compile(strings.Replace(begin, `"qualified"`, `"unqualified"`, 1) + `</xs:schema>`)
	require.ErrorContains(t, err, "elements must be qualified")
	_, err = compile(strings.Replace(begin, `targetNamespace="http://eclipse.org/ptp/rm"`, `targetNamespace="urn:other"`, 1) + `</xs:schema>`)
	require.ErrorContains(t, err, "target namespace")
	_, err = compile("<xs:schema/>")
	require.ErrorContains(t, err, "read a schema")
}
