// Package definition writes definitions for targets with an agent, with the agent's attributes and the
// commands of package bridge.
package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"

	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/proxy"
)

// Options describe an agent.
type Options struct {
	Agent      []string // its program and arguments
	Proxy      string
	Attributes []proxy.Definition // from the agent; the last one for an id wins
	IsOwn      bool               // an rmctl agent, which accepts portable names
	Operations bool               // supports hold, release, suspend and resume
}

// Exit codes of the commands of package bridge. The definition maps them to outcomes.
const (
	ExitRefused    = 1
	ExitUsage      = 2
	ExitUnknownJob = 44
	ExitFinished   = 45
	ExitTransient  = 46
	ExitDoubtful   = 47
)

// Command is the program of all commands of the definition.
const Command = "@agent"

// OutputFolder contains the output of jobs, for the connection of package bridge.
const OutputFolder = "/@agent/jobs/"

// Write returns the definition of an agent as text, and the ids of unusable attributes.
func Write(o Options) (text []byte, refused []string) {
	w := &writer{options: o}
	w.attributes, refused = usable(o.Attributes)
	w.header()
	w.jobCommands()
	w.form()
	w.readers()
	w.recovery()
	w.outcomes()
	w.portable()
	w.monitor()
	return []byte(w.text.String()), refused
}

// A writer writes a definition.
type writer struct {
	options    Options
	attributes []attribute
	text       strings.Builder
}

// line writes a line, in which each argument is escaped.
func (w *writer) line(format string, arguments ...string) {
	escaped := make([]any, len(arguments))
	for i, argument := range arguments {
		escaped[i] = escape(argument)
	}
	fmt.Fprintf(&w.text, format+"\n", escaped...)
}

// escape returns a text for XML; characters that XML cannot have are replaced.
func escape(text string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // writing to a Builder never fails
	return escaped.String()
}

func (w *writer) header() {
	w.line(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="agent">
  <control-data>
    <!-- agent %s -->
    <attribute name="queues" visible="false"/>
    <attribute name="control.queue.name" visible="false"><link-value-to>%s</link-value-to></attribute>
    <attribute name="stdout_remote_path" visible="false"><default>`+OutputFolder+`${ptp_rm:@jobId#name}/stdout</default></attribute>
    <attribute name="stderr_remote_path" visible="false"><default>`+OutputFolder+`${ptp_rm:@jobId#name}/stderr</default></attribute>
    <attribute name="queueId" type="string" x:label="Queue">
      <description>Queue of the job; without it, the first one of the agent</description>
      <items-from>queues</items-from></attribute>`,
		w.identity(), w.queueAttribute())
	for _, a := range w.attributes {
		w.attribute(a)
	}
	for _, name := range w.ownNames() {
		w.line(`    <attribute name="%s" visible="false"/>`, portablePrefix+name.name)
	}
	if w.options.IsOwn {
		w.line(`    <attribute name="%s" visible="false"/>`, mailAddress)
	}
}

// identity distinguishes agents on one host, since targets with equal definitions share listings.
func (w *writer) identity() string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{w.options.Proxy}, w.options.Agent...), "\x00")))
	return hex.EncodeToString(sum[:8])
}

// submitted writes an argument that is omitted if it has no value. Expressions without special characters
// need no compilation, which matters with a hundred attributes.
func (w *writer) submitted(id, name, unless string) {
	w.line(`      <arg x:word="true" isUndefinedIfMatches="%s">%s=${ptp_rm:%s#value}</arg>`, regexp.QuoteMeta(id+"=")+unless, id, name)
}

func (w *writer) jobCommands() {
	w.line(`    <start-up-command name="get-queues" x:timeout="60s">
      <arg>@agent queues</arg>
      <x:read>
        <x:json each="/queues/*"/>
        <x:fact attribute="queues" from="id"/>
      </x:read>
    </start-up-command>
    <submit-batch name="submit" directory="${ptp_rm:directory#value}" waitForId="true" x:timeout="90s">
      <arg>@agent submit</arg>
      <arg x:word="true">jobSubId=${ptp_rm:job.tag#value}</arg>`)
	w.submitted("queueId", "queueId", "")
	for _, a := range w.attributes {
		id := a.ID
		if a.Type == "ARRAY" {
			id += "[]"
		}
		w.submitted(id, a.name, a.unless())
	}
	for _, name := range w.ownNames() {
		value := portablePrefix + name.name
		if name.name == "mail" {
			value += "#value}${ptp_rm:" + mailAddress
		}
		w.submitted(name.name, value, "")
	}
	w.line(`      <arg>--</arg>
      <arg>${ptp_rm:executablePath#value}</arg>
      <arg>${ptp_rm:progArgs#value}</arg>
      <x:read>
        <x:lines expression="job (\S+)" columns="id" only="true"/>
      </x:read>
    </submit-batch>
    <get-job-status name="get-job-status" x:timeout="60s">
      <arg>@agent jobs</arg>
      <arg x:word="true">${ptp_rm:@jobId#name}</arg>
      <x:read reader="jobs"/>
    </get-job-status>
    <terminate-job name="cancel" x:timeout="60s"><arg>@agent terminate</arg><arg x:word="true">${ptp_rm:@jobId#name}</arg></terminate-job>`)
	if !w.options.Operations {
		return
	}
	for _, operation := range []string{"suspend", "resume", "hold", "release"} {
		w.line(`    <%s-job name="%s" x:timeout="60s"><arg>@agent operate %s</arg><arg x:word="true">${ptp_rm:@jobId#name}</arg></%s-job>`,
			operation, operation, operation, operation)
	}
}

// form writes a form with the usual attributes first.
func (w *writer) form() {
	rows := "queueId"
	linked := w.linked()
	for _, a := range w.attributes {
		if linked[a.name] || len(w.attributes) <= fewAttributes {
			rows += " " + a.name
		}
	}
	w.line(`    <launch-tab>
      <dynamic includeWidgetValuesFrom="All options">
        <title>Basic</title>
        <composite x:rows="%s"/>
      </dynamic>
      <dynamic>
        <title>All options</title>
        <viewer type="table" name="options">
          <column-data name="Name"/><column-data name="Value"/><column-data name="Description"/>
          <items allPredefined="true"/>
          <value pattern=""/>
        </viewer>
      </dynamic>
    </launch-tab>`, rows)
}

// fewAttributes is the number of attributes up to which all are in the first tab.
const fewAttributes = 12

func (w *writer) readers() {
	w.line(`    <x:reader name="jobs">
      <x:json each="/jobs/*"/>
      <x:id from="id"/>
      <x:states of="detail">`)
	for _, detail := range job.Details() {
		w.line(`        <x:state is="%s" words="%s"/>`, string(detail), string(detail))
	}
	w.line(`      </x:states>`)
	for _, fact := range []string{"native", "name", "owner", "queue", "nodes", "reason"} {
		w.line(`      <x:fact name="%s" from="%s"/>`, fact, fact)
	}
	for _, fact := range []string{"submitted", "started", "ended"} {
		w.line(`      <x:fact name="%s" from="%s" as="time"/>`, fact, fact)
	}
	for _, fact := range []string{"cpus", "exitCode", "signal"} {
		w.line(`      <x:fact name="%s" from="%s" as="integer"/>`, fact, fact)
	}
	w.line(`      <x:fact name="outputPath" from="outputPath" as="path"/>
      <x:fact name="errorPath" from="errorPath" as="path"/>
      <x:fact name="identity" from="tag" as="tag"/>
      <x:fact name="attributes" from="attributes" as="fields"/>
    </x:reader>`)
}

// recovery writes how to find a submission without an answer. An rmctl agent records a job before it
// submits it; any other agent knows only the jobs of its session.
func (w *writer) recovery() {
	if w.options.IsOwn {
		w.line(`    <x:find-job name="find" x:timeout="60s">
      <arg>@agent jobs</arg>
      <x:read reader="jobs"><x:absent/></x:read>
    </x:find-job>`)
		return
	}
	w.line(`    <x:find-job name="find" x:timeout="60s">
      <arg>@agent jobs</arg>
      <x:read reader="jobs"/>
      <x:fallback name="find-since" on="ok" x:timeout="60s">
        <arg>@agent session</arg>
        <x:read needs="begun">
          <x:json each="/session/*"/>
          <x:absent since="sum(begun)"/>
        </x:read>
      </x:fallback>
    </x:find-job>`)
}

func (w *writer) outcomes() {
	for _, outcome := range []struct {
		kind string
		code int
	}{{"not-found", ExitUnknownJob}, {"finished", ExitFinished}, {"transient", ExitTransient}, {"doubtful", ExitDoubtful}} {
		w.line(`    <x:outcome kind="%s" exit="%s"/>`, outcome.kind, fmt.Sprint(outcome.code))
	}
	w.line(`    <x:probe name="session" required="true" x:timeout="60s" impact="nothing can be submitted, and no state is known"
      fix="start the agent yourself on the target: it must be executable">
      <arg>@agent greeting</arg>
    </x:probe>
    <x:probe name="agent-updates" required="false" x:timeout="60s" impact="rmctl left out what it did not understand; the rest counts"
      fix="record the session with --trace FILE and read it with rmctl agent decode, or update the agent">
      <arg>@agent oddities</arg>
    </x:probe>`)
}

func (w *writer) monitor() {
	w.line(`  </control-data>
  <monitor-data schedulerType="` + wording.AgentType + `">
    <x:list-jobs name="list-jobs" x:interval="100ms" x:busy="20%%" x:timeout="2m">
      <arg>@agent listing</arg>
      <arg>${ptp_rm:query.ids#value}</arg>
      <x:read reader="jobs"/>
    </x:list-jobs>
    <x:list-nodes name="list-nodes" x:interval="100ms" x:timeout="2m">
      <arg>@agent nodes</arg>
      <x:read>
        <x:json each="/nodes/*"/>
        <x:id from="id"/>
        <x:states of="state">
          <x:state is="UP" words="UP"/>
          <x:state is="DOWN" words="DOWN"/>
          <x:state is="ERROR" words="ERROR"/>
          <x:state is="UNKNOWN"/>
        </x:states>
        <x:fact name="native" from="native"/>
        <x:fact name="machine" from="machine"/>
        <x:fact name="queues" from="queues"/>
        <x:fact name="reason" from="reason"/>
        <x:fact name="cpus" from="cpus" as="integer"/>
        <x:fact name="cpusUsed" from="cpusUsed" as="integer"/>
        <x:fact name="memory" from="memory" as="integer"/>
        <x:fact name="load" from="load" as="number"/>
        <x:fact name="attributes" from="attributes" as="fields"/>
      </x:read>
    </x:list-nodes>
    <x:list-queues name="list-queues" x:interval="100ms" x:timeout="2m">
      <arg>@agent queues</arg>
      <x:read>
        <x:json each="/queues/*"/>
        <x:id from="id"/>
        <x:states of="state">
          <x:state is="NORMAL" words="NORMAL"/>
          <x:state is="COLLECTING" words="COLLECTING"/>
          <x:state is="DRAINING" words="DRAINING"/>
          <x:state is="STOPPED" words="STOPPED"/>
        </x:states>
        <x:fact name="native" from="native"/>
        <x:fact name="default" from="default" as="boolean"/>
        <x:fact name="timeLimit" from="timeLimit"/>
        <x:fact name="running" from="running" as="integer"/>
        <x:fact name="waiting" from="waiting" as="integer"/>
        <x:fact name="nodes" from="nodes" as="integer"/>
        <x:fact name="attributes" from="attributes" as="fields"/>
      </x:read>
    </x:list-queues>
  </monitor-data>
</resource-manager-builder>`)
}
