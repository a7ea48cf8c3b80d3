package importer

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/rms"
)

// A document is a definition being written.
type document struct {
	comment          string
	attributes       string // of the root, besides the namespaces
	control, monitor strings.Builder
}

func (d *document) text() string {
	var text strings.Builder
	text.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&text, "<!-- %s -->\n", xmltree.CommentText(d.comment))
	fmt.Fprintf(&text, `<resource-manager-builder xmlns="%s" xmlns:x="%s"%s>`+"\n", xmltree.CoreNamespace, xmltree.ExtensionNamespace, d.attributes)
	fmt.Fprintf(&text, "  <control-data>\n%s  </control-data>\n", d.control.String())
	if d.monitor.Len() > 0 {
		fmt.Fprintf(&text, "  <monitor-data>\n%s  </monitor-data>\n", d.monitor.String())
	}
	text.WriteString("</resource-manager-builder>\n")
	return text.String()
}

// A shipped is a shipped definition from which others copy parts.
type shipped struct {
	name       string
	definition *config.Definition
	control    *xmltree.Element
	monitor    *xmltree.Element
}

// shippedDefinitions reads the definitions of [rms.Names] once, as a file may have many sites.
var shippedDefinitions = sync.OnceValues(func() (definitions []*config.Definition, err error) {
	for _, name := range rms.Names() {
		source, _ := rms.Source(name)
		definition, err := config.Read(name+".xml", source, check.ReadBase)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		definitions = append(definitions, definition)
	}
	return definitions, nil
})

// shippedFor returns the shipped definition of a scheduler, or nil.
func (i *importing) shippedFor(scheduler string) *shipped {
	if scheduler == "" {
		return nil
	}
	definitions, err := shippedDefinitions()
	if err != nil {
		i.fail(0, 0, "%v", err)
		return nil
	}
	for n, name := range rms.Names() {
		definition := definitions[n]
		submit := definition.Submit(false)
		if submit == nil || submit.Element != config.SubmitBatch || !isScheduler(definition.Monitor.SchedulerType, scheduler) {
			continue
		}
		model, err := newShipped(name, definition)
		if err != nil {
			i.fail(0, 0, "reading %s: %v", name, err)
		}
		return model
	}
	return nil
}

// isScheduler compares what definitions call their schedulers: PTP adds to some
// names the kind of machine that they are for.
func isScheduler(own, wanted string) bool {
	plain := func(name string) string {
		name, _, _ = strings.Cut(strings.ToLower(name), "_")
		name = strings.NewReplacer("-", "", " ", "").Replace(name)
		if same, known := map[string]string{"ll": "loadleveler", "sge": "gridengine", "pbspro": "pbs", "openpbs": "pbs", "condor": "htcondor"}[name]; known {
			return same
		}
		return name
	}
	return own != "" && plain(own) == plain(wanted)
}

func newShipped(name string, definition *config.Definition) (*shipped, error) {
	source, _ := rms.Source(name)
	if len(definition.Files) > 1 {
		merged, problems := config.Merge(name+".xml", source, check.ReadBase)
		if err := problems.Err(); err != nil {
			return nil, err
		}
		source = []byte(merged.XML)
	}
	document, err := xmltree.Read(name, source)
	if err != nil {
		return nil, err
	}
	control, _ := document.Root.First("control-data")
	monitor, _ := document.Root.First("monitor-data")
	return &shipped{name: name, definition: definition, control: control, monitor: monitor}, nil
}

// attribute returns the definition of an attribute, or nil.
func (s *shipped) attribute(name string) *xmltree.Element {
	for _, e := range slices.Backward(s.control.Named("attribute")) {
		if e.Value("name") == name {
			return e
		}
	}
	return nil
}
