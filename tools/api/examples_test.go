package main

import (
	"go/doc"
	"slices"
	"strings"
	"testing"
)

// servers are the packages and examples that need a server: they are compiled, and not run.
var servers = []string{"pawl/postgres", "pawl/sqlserver", "pawl/sqlserver/sqlservertest", "pawl/pawltest.Postgres"}

// firstCalls are what the user of a package calls first.
var firstCalls = map[string]string{
	"pawl":                         "New Migrate Enqueue EnqueueTx Handle HandleBatch Run Start Stop With SetResult",
	"pawl/admin":                   "Pause Resume SetLimit Explain",
	"pawl/blob":                    "Put Get",
	"pawl/cron":                    "Parse Next",
	"pawl/flow":                    "New Handle Start Step StepTx Wait Send Undo All Cancel Await",
	"pawl/fleet":                   "New Handle MigrateAll Pawl Run",
	"pawl/health":                  "Health Healthy NewReport",
	"pawl/health/probe":            "Handler",
	"pawl/inbox":                   "Once Enqueue HandleInboxTx Get",
	"pawl/job":                     "Put Sync Trigger Runs",
	"pawl/join":                    "FanOut Get Members",
	"pawl/lease":                   "Acquire Run Guard Elect",
	"pawl/metrics":                 "New",
	"pawl/outbox":                  "Enqueue EnqueueBatch Get List Redrive Claim Ack",
	"pawl/pawltest":                "New AssertEnqueued MustDrain Drain Advance",
	"pawl/postgres":                "Open New Pool",
	"pawl/receive":                 "New HandleInbox",
	"pawl/sink/watermill":          "Forward NewSubscriber WithTx",
	"pawl/sink/webhook":            "New Handle",
	"pawl/sqlite":                  "Open SQL",
	"pawl/sqlite/anydriver":        "New",
	"pawl/sqlserver":               "Open SQL",
	"pawl/sqlserver/sqlservertest": "New",
	"pawl/timer":                   "Schedule ScheduleTx Cancel",
	"pawl/traces":                  "Instrument",
	"pawl/ui":                      "Handler Of",
}

// D-711: each public package has examples of what its user calls first. They run, and import nothing
// that a program cannot.
func TestExamples(t *testing.T) {
	packages, err := exported(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		all, err := examples(p, root)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range lacks(title(p), all, strings.Fields(firstCalls[title(p)])) {
			t.Error(fault)
		}
	}
}

// lacks lists what is wrong with the examples of a package.
func lacks(name string, all []example, first []string) (faults []string) {
	if len(first) == 0 {
		faults = append(faults, name+": firstCalls does not say what its user calls first")
	}
	var calls []string
	for _, e := range all {
		if e.Output != "" || slices.Contains(servers, name) || slices.Contains(servers, name+"."+e.Name) {
			calls = append(calls, e.calls...)
		} else {
			faults = append(faults, name+": Example"+e.Name+" has no output, so it does not run")
		}
		if e.Doc == "" {
			faults = append(faults, name+": Example"+e.Name+" does not say what it shows")
		}
		for _, path := range e.imports {
			if strings.HasPrefix(path, module) && strings.Contains(path+"/", "/internal/") {
				faults = append(faults, name+": the file of Example"+e.Name+" imports "+path)
			}
		}
	}
	for _, call := range first {
		if !slices.Contains(calls, call) {
			faults = append(faults, name+": no example calls "+call)
		}
	}
	return faults
}

// D-711: examples that are missed, do not run, say nothing or import what programs cannot are found.
func TestExamplesAreMissed(t *testing.T) {
	good := example{&doc.Example{Name: "Jobs_Put", Doc: "It puts.", Output: "7"}, "example_test.go", []string{"Put"}, []string{module + "/job"}}
	if faults := lacks("pawl/job", []example{good}, []string{"Put"}); len(faults) != 0 {
		t.Error(faults)
	}
	silent, mute, inner := good, good, good
	silent.Example, mute.Example = &doc.Example{Name: "Jobs_Put", Doc: "It puts."}, &doc.Example{Name: "Jobs_Put", Output: "7"}
	inner.imports = []string{module + "/internal/engine"}
	for want, all := range map[string][]example{
		"no example calls Put": {}, "has no output": {silent, good}, "does not say": {mute}, "imports": {inner},
	} {
		if faults := strings.Join(lacks("pawl/job", all, []string{"Put"}), "\n"); !strings.Contains(faults, want) || strings.Contains(faults, "\n") {
			t.Errorf("%q, want %q", faults, want)
		}
	}
	if faults := lacks("pawl/job", []example{good}, nil); len(faults) != 1 {
		t.Error(faults)
	}
}
