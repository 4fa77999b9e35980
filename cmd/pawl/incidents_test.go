package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// incident is what goes wrong in the work of a database's users.
type incident struct {
	topic         string
	only          string // the engine that it can happen on; "": all
	happens, over func(d *scene)
	says          map[string]string // by door
	gone          string            // what health says no more once it is over
}

// incidents have no worker of their own between what happens and what ends it, but for the one of a
// topic that was renamed.
func incidents() map[string]incident {
	const timeout = "dial tcp 10.0.0.9:25: i/o timeout"
	return map[string]incident{
		"a handler is down": {
			topic: "mail",
			happens: func(d *scene) {
				d.enqueued("mail", "default", 8)
				d.drained("mail", func(context.Context, *outbox.Message) error { return errors.New(timeout) })
			},
			over: func(d *scene) {
				d.enqueued("mail", "default", 40)
				d.drained("mail", succeed)
			},
			says: map[string]string{
				"health": "[-]failing/mail problem: mail: 100 % of 24 attempts failed since ", "doctor": "mail: 100 % of 24 attempts failed", "explain": "It failed for good",
				"backlog": "default mail failed 8", "stats": "24 × dial tcp #: i/o timeout", "metrics": `pawl_recent_attempts{outcome="failed",queue="default",topic="mail"} 24`, "api": `"failing/mail"`,
			},
			gone: "failing/mail",
		},
		"one tenant's payload poisons": {
			topic: "import",
			happens: func(d *scene) {
				d.enqueued("import", "default", 60)
				d.drained("import", func(_ context.Context, m *outbox.Message) error {
					if m.Position%4 == 0 {
						return errors.New("tenant 17: unexpected end of JSON input")
					}
					return nil
				})
			},
			over: func(d *scene) { d.must("", "discard", "--all") },
			says: map[string]string{
				"health": "[!]failed warning: 15 messages failed for good, 15 of them within an hour: import (tenant #: unexpected end of JSON input)", "doctor": "15 messages failed for good",
				"explain": "", "backlog": "default import failed 15", "stats": "45 × tenant #: unexpected end of JSON input",
				"metrics": `pawl_messages{queue="default",state="failed",topic="import"} 15`, "api": "15 messages failed for good",
			},
			gone: "messages failed for good",
		},
		"a topic was renamed": {
			topic: "old.name",
			happens: func(d *scene) {
				d.enqueued("old.name", "default", 5)
				d.working(program{topics: []string{"new.name"}, handler: succeed})
				d.until("unhandled/old.name")
			},
			over: func(d *scene) {
				dbtest.Until(d.t, "all are moved, which a worker may hold for a moment", func() bool {
					d.must("", "retopic", "old.name", "new.name")
					return !strings.Contains(doors["backlog"](d, ""), "old.name")
				})
				d.stop()
			},
			says: map[string]string{
				"health": "[!]unhandled/old.name warning: 5 messages of old.name, the oldest for ", "doctor": "5 messages of old.name, the oldest for ",
				"explain": `No live worker of queue "default" has a handler for topic "old.name"`, "backlog": "old.name", "stats": "old.name", "metrics": `topic="old.name"`, "api": `"unhandled/old.name"`,
			},
			gone: "old.name",
		},
		"a queue is not served": {
			topic: "t",
			happens: func(d *scene) {
				d.enqueued("t", "parcels", 5)
				d.drained("t", succeed)
			},
			over: func(d *scene) {
				d.must("", "retopic", "t", "t", "--queue", "default")
				d.drained("t", succeed)
			},
			says: map[string]string{
				"health": "[-]waiting/queue/parcels problem: queue parcels: 5 messages are due, the oldest for ", "explain": `No live worker serves queue "parcels"`, "backlog": "parcels t ready 5",
				"metrics": `pawl_messages{queue="parcels",state="ready",topic="t"} 5`,
			},
			gone: "parcels",
		},
		"a worker was never deployed": {
			topic:   "mail",
			happens: func(d *scene) { d.enqueued("mail", "default", 5) },
			over:    func(d *scene) { d.drained("mail", succeed) },
			says: map[string]string{
				"health": "[-]waiting/queue/default problem: queue default: 5 messages are due, the oldest for ", "explain": `No live worker serves queue "default"`, "backlog": "default mail ready 5",
				"stats": "mail   5         0", "metrics": "pawl_workers 0",
			},
			gone: "waiting/queue/default problem",
		},
		"a pool is too small": {
			topic: "report", only: "postgres",
			happens: func(d *scene) {
				d.flags[0] += "&pool_max_conns=2"
				d.enqueued("report", "default", 12)
				d.working(program{Options: pawl.Options{Concurrency: 12}, topics: []string{"report"}, queries: true})
				d.until("connections/")
			},
			over: func(d *scene) { d.stop() },
			says: map[string]string{
				"health": "callers waited for one of the 2 connections of its pool", "doctor": "callers waited for one of the 2 connections of its pool", "api": `"connections/`,
			},
			gone: "connections/",
		},
		"a limit is too low": {
			topic: "mail",
			happens: func(d *scene) {
				d.enqueued("mail", "default", 5)
				d.working(program{topics: []string{"mail"}, handler: succeed, limit: &outbox.Limit{Rate: 1, Period: time.Hour}})
				d.until("limited/mail")
			},
			over: func(d *scene) {
				d.must("", "limits", "set", "topic", "mail", "--rate", "1000/s")
				dbtest.Until(d.t, "all are done", func() bool { return !strings.Contains(doors["backlog"](d, ""), "mail") })
				d.stop()
			},
			says: map[string]string{
				"health": "[!]limited/mail warning: mail: 4 messages wait for the limit of 1 in 1h, the oldest for ", "doctor": "mail: 4 messages wait for the limit of 1 in 1h",
				"explain": `The limit of topic "mail" is 1 in 1h`, "backlog": "default mail ready 4", "metrics": `pawl_limit_waiting{kind="topic",name="mail"} 4`, "api": `"limited/mail"`,
			},
			gone: "limited/mail",
		},
		"a clock is wrong": {
			topic: "mail",
			happens: func(d *scene) {
				d.enqueued("mail", "default", 1)
				d.working(program{topics: []string{"mail"}, handler: succeed, clockOff: 630 * time.Second})
				d.until("clock/")
			},
			over: func(d *scene) {
				d.stop()
				d.drained("mail", succeed)
			},
			says: map[string]string{
				"health": "its clock is 10m", "doctor": "its clock is 10m", "metrics": "pawl_workers_clock_off_seconds 6", "api": "its clock is 10m",
			},
			gone: "clock/",
		},
		"the database takes no writes": {
			topic: "mail",
			happens: func(d *scene) {
				d.enqueued("mail", "default", 5)
				d.takesNoWrites(true)
			},
			over: func(d *scene) {
				d.takesNoWrites(false)
				d.drained("mail", succeed)
			},
			says: map[string]string{
				"health": "[-]database problem: the database is read-only, nothing is claimed: ", "doctor": "problem  writable", "explain": `No live worker serves queue "default"`,
				"backlog": "default mail ready 5", "stats": "mail   5         0", "metrics": `pawl_messages{queue="default",state="ready",topic="mail"} 5`, "api": "the database is read-only", "enqueue": "read-only",
			},
			gone: "read-only",
		},
		"an old version restarts": {
			topic: "receipt",
			happens: func(d *scene) {
				two, one := pawl.Options{Program: "shop", Version: "v2", StopWhenEmpty: true}, pawl.Options{Program: "shop", Version: "v1"}
				d.working(program{Options: two, topics: []string{"order", "receipt"}, handler: succeed, limit: &outbox.Limit{Concurrency: 2}})
				d.enqueued("receipt", "default", 3)
				d.working(program{Options: one, topics: []string{"order"}, handler: succeed, limit: &outbox.Limit{Concurrency: 9}})
				d.until("unhandled/receipt")
			},
			over: func(d *scene) {
				d.stop()
				d.working(program{topics: []string{"order", "receipt"}, handler: succeed})
				// What was put back for want of a handler comes again after a minute at most.
				dbtest.Until(d.t, "all are done", func() bool { return !strings.Contains(doors["backlog"](d, ""), "receipt") })
				d.stop()
			},
			says: map[string]string{
				"health": "[!]unhandled/receipt warning: 3 messages of receipt, the oldest for ", "doctor": "3 messages of receipt, the oldest for ", "explain": `has a handler for topic "receipt"`,
				"backlog": "default receipt unhandled 3", "stats": "receipt  3         0", "metrics": `pawl_messages{queue="default",state="unhandled",topic="receipt"} 3`, "api": `"unhandled/receipt"`,
				"limits": `"concurrency":2`, // of v2
			},
			gone: "receipt",
		},
	}
}

// D-576: what goes wrong in users' work is reported by every door, from outside the processes, and no
// more once it is over.
func TestIncidents(t *testing.T) {
	for name, i := range incidents() {
		if i.only == "" {
			t.Run(name, func(t *testing.T) { onEngines(t, i.play) })
		}
	}
}

// D-576: those of PostgreSQL's pools take a heartbeat or two of ten seconds.
func TestIncidentsOfPools(t *testing.T) {
	for name, i := range incidents() {
		if i.only == "postgres" {
			t.Run(name, func(t *testing.T) { i.play(t, onPostgres(t)) })
		}
	}
}

func (i incident) play(t *testing.T, on *database) {
	t.Parallel()
	d := &scene{database: on}
	d.must("", "migrate")
	i.happens(d)
	for door, text := range i.says {
		var got string
		ok := false
		for n := 0; n < 200 && !ok; n++ { // a worker may hold a message while it is asked about, for long on a busy machine
			got = doors[door](d, i.topic)
			ok = strings.Contains(got, text)
		}
		if !ok {
			t.Errorf("%s does not say %q:\n%.3000s", door, text, got)
		}
	}
	i.over(d)
	if got := doors["health"](d, ""); strings.Contains(got, i.gone) {
		t.Errorf("after its end:\n%s", got)
	}
}
