package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/test/canary"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// guarded is a fleet's stores whose URLs and messages hold secrets: two that work,
// on either engine, and some that do not.
func guarded(t *testing.T, w *canary.Watch) (well, broken []fleet.Database) {
	t.Helper()
	pg, _ := servers(t, 1)
	u, err := url.Parse(pg[0].URL)
	must(t, err)
	u.User = url.UserPassword(u.User.Username(), w.Plant("the password of a store that works"))
	pg[0].Key, pg[0].URL = "server", u.String()
	well = append(files(t, "file"), pg[0])
	u.Path = "/nothing_here"
	for i, at := range []string{
		u.String(), // the server says no
		"postgres://u:" + w.Plant("a password") + "@127.0.0.1:1/d?connect_timeout=1",
		"postgres://127.0.0.1:1/d?user=u&password=" + w.Plant("a parameter"),
		"postgres://127.0.0.1:1/d?user=u&password=" + w.Plant("a parameter with a semicolon") + ";x",
		"postgres://u:12/" + w.Plant("a password with a slash") + "@127.0.0.1/d",
		"postgres://u:" + w.Plant("a bad escape") + "%zz@127.0.0.1/d",
		"host=127.0.0.1 port=1 password=" + w.Plant("a list"),
		"host=127.0.0.1 port=1 password=" + w.Plant("a list with a colon") + ":x",
		"mysql://u:" + w.Plant("another engine") + "@h/d",
	} {
		broken = append(broken, fleet.Database{Key: fmt.Sprintf("broken-%d", i), URL: at})
	}
	return well, broken
}

// confide gives every component of a store secrets.
func confide(t *testing.T, w *canary.Watch, s *fleet.Store) {
	t.Helper()
	ctx := t.Context()
	payload := func(of string) []byte { return []byte(w.Plant(s.Key + ", payload of " + of)) }
	headers := func(of string) map[string]string {
		return map[string]string{"authorization": w.Plant(s.Key + ", header of " + of)}
	}
	message := func(topic string) outbox.Message {
		return outbox.Message{Topic: topic, Payload: payload(topic), Headers: headers(topic)}
	}
	for _, topic := range []string{"fine", "fails", "panics", "decodes", "nobody's"} {
		_, err := s.Pawl.Outbox.Enqueue(ctx, message(topic))
		must(t, err)
	}
	_, err := s.Pawl.Joins.FanOut(ctx, join.Spec{Metadata: w.Plant("metadata")}, []outbox.Message{message("fine")}, join.Wait{OnComplete: message("fine")})
	must(t, err)
	_, err = s.Pawl.Timers.Schedule(ctx, timer.Timer{Topic: "fine", Due: time.Now(), Payload: payload("a timer"), Headers: headers("a timer")})
	must(t, err)
	must(t, s.Pawl.Jobs.Put(ctx, job.Job{Name: "j", Topic: "fine", Schedule: "0 0 1 1 *", Payload: payload("a job"), Headers: headers("a job")}))
	_, err = s.Pawl.Jobs.Trigger(ctx, "j")
	must(t, err)
	for i, topic := range []string{"came", "failed"} {
		_, err := s.Pawl.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: fmt.Sprint(i)}, Topic: topic, Payload: payload(topic), Headers: headers(topic)})
		must(t, err)
	}
	l, err := s.Pawl.Leases.Acquire(ctx, "l", lease.Options{})
	must(t, err)
	must(t, l.Close(ctx))
}

// wantStores checks that every line about what happens in a store names it, and
// only the lines about the list do not.
func wantStores(t *testing.T, w *canary.Watch, keys ...string) {
	t.Helper()
	seen := map[string]map[string]bool{}
	for _, line := range w.Lines(t) {
		message, _ := line["msg"].(string)
		key, _ := line["store"].(string)
		if key == "" && !strings.Contains(message, "list") {
			t.Errorf("a line names no store: %v", line)
		}
		if seen[message] == nil {
			seen[message] = map[string]bool{}
		}
		seen[message][key] = true
	}
	for _, message := range []string{
		"store joins the fleet", "enqueued", "claimed", "handling", "handler failed", "no handler for topic, putting its messages back", "reaped expired leases",
		"join started", "join is over", "timer scheduled", "timers fired", "job stored", "job triggered", "lease acquired", "lease released",
	} {
		for _, key := range keys {
			if !seen[message][key] {
				t.Errorf("%q was not logged for %q", message, key)
			}
		}
	}
}

// OBX-107, OBX-125, D-5: in a fleet whose stores work or fail every line of a store
// names it, and no line, error, health or report tells a payload, a header's value
// or a password.
func TestFleetTellsNothingSecret(t *testing.T) {
	t.Parallel()
	w := canary.New()
	well, broken := guarded(t, w)
	o := quick()
	o.Pawl.Logger = w.Logger()
	o.Pawl.Grace = time.Second
	f := open(t, fleet.Static(append(well, broken...)...), o)
	f.Handle("fine", func(context.Context, *outbox.Message) error { return nil })
	f.Handle("fails", func(context.Context, *outbox.Message) error { return errors.New("no") })
	f.Handle("panics", func(context.Context, *outbox.Message) error { panic("odd") })
	pawl.NewTopic[int]("decodes").Handle(f, func(context.Context, *pawl.Delivery[int]) error { return nil })
	f.HandleInbox("came", func(context.Context, *inbox.Message) error { return nil })
	f.HandleInboxTx("failed", func(context.Context, outbox.Tx, *inbox.Message) error { return errors.New("no") })
	for _, d := range well {
		s, err := f.Operator(access.Key{}).Store(t.Context(), d.Key)
		must(t, err)
		_, err = s.Pawl.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "fine"}) // for a worker that dies
		must(t, err)
		_, err = s.Pawl.Outbox.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), 20*time.Millisecond, 1)
		must(t, err)
		confide(t, w, s)
	}
	start(t, f)
	for _, d := range broken {
		_, err := outboxOf(f, d.Key)
		if err == nil {
			box, _ := outboxOf(f, d.Key)
			_, err = box.Enqueue(t.Context(), outbox.Message{Topic: "fine", Payload: []byte(w.Plant("a payload for nobody"))})
		}
		w.Failed(t, d.Key, err)
		w.Saw("where", d.Where(access.Key{}))
	}
	for i := range broken[:len(broken)-3] { // the last ones are no stores at all
		untilState(t, f, fleetstate.Failing, fmt.Sprintf("broken-%d", i))
	}
	dbtest.Until(t, "everything happened", func() bool {
		return w.Count(t, "handler failed") >= 4*len(well) && w.Count(t, "join is over") >= len(well) &&
			w.Count(t, "reaped expired leases") >= len(well) && w.Count(t, "timers fired") >= len(well) &&
			w.Count(t, "no handler for topic, putting its messages back") >= len(well)
	})
	w.Saw("health", fmt.Sprintf("%+v", f.Operator(access.Key{}).State()))
	report, err := f.Migrations(t.Context(), fleetstate.Migrate{})
	w.Failed(t, "migration", err)
	w.Saw("report", fmt.Sprintf("%+v", report))
	wantStores(t, w, "file", "server")
	w.Check(t)
}
