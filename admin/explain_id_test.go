package admin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// instant is a time as a literal of the engine's SQL.
func (f *explainFixture) instant(at time.Time) string {
	if f.db.Engine() == "sqlite" {
		return fmt.Sprint(at.UnixMicro())
	}
	zone := map[bool]string{false: "Z"}[f.db.Engine() == "sqlserver"]
	return "'" + at.UTC().Format("2006-01-02 15:04:05.000000") + zone + "'"
}

func (f *explainFixture) position(id outbox.MessageID) string { return fmt.Sprint(f.at(id)) }

func mustID(t *testing.T, id string) outbox.MessageID {
	t.Helper()
	parsed, err := outbox.ParseMessageID(id)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestExplainIDPosition(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.enqueue(outbox.Message{})
		id := f.enqueue(outbox.Message{Queue: "q"})
		if x := f.explain(f.position(id), "no_worker"); x.ID != id.String() || x.Kind != "message" {
			t.Errorf("explained %s %s, want %s", x.Kind, x.ID, id)
		}
		f.explain(strings.ToUpper(id.String()), "no_worker")
	})
}

// kinds are what an explanation is of, others included.
func kinds(x *admin.Explanation) (all []admin.Kind) {
	for _, one := range append([]admin.Explanation{*x}, x.AlsoMatches...) {
		all = append(all, one.Kind)
	}
	return all
}

// A job, a timer and a message of the inbox may all go by one name.
func TestExplainIDSeveral(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		const name = "shop/17"
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: name, Topic: "t", Schedule: "0 0 1 1 *"}))
		f.schedule(timer.Timer{Key: name, Due: f.now().Add(time.Hour)})
		_, err := f.Inbox.AlreadyProcessed(f.ctx(), inbox.Key{Source: "shop", MessageID: "17"})
		f.check(err)
		x, err := f.Admin.Explain(f.ctx(), name)
		f.check(err)
		if got := kinds(x); !slices.Equal(got, []admin.Kind{"timer", "job", "inbox"}) {
			t.Errorf("found %q", got)
		}
		for _, k := range []admin.Kind{"job", "inbox", "timer"} {
			x, err := f.Admin.Explain(f.ctx(), name, k)
			f.check(err)
			if got := kinds(x); !slices.Equal(got, []admin.Kind{k}) {
				t.Errorf("of kind %s: found %q", k, got)
			}
		}
		_, err = f.Admin.Explain(f.ctx(), name, "message", "join", "run")
		if !errors.Is(err, admin.ErrNotFound) || !strings.Contains(err.Error(), "no message, join or run goes by") {
			t.Errorf("found %v", err)
		}
	})
}

// Programs choose ids themselves, so those of different things may be the same.
func TestExplainIDSameUUID(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		_, err := f.Joins.Start(f.ctx(), join.Spec{ID: join.ID(id), ExpectedSteps: 1})
		f.check(err)
		// A timer whose key it is: that is not its message.
		f.schedule(timer.Timer{Key: id.String(), Due: f.now().Add(-time.Hour)})
		f.fire()
		f.schedule(timer.Timer{Key: id.String(), Due: f.now().Add(time.Hour)})
		x, err := f.Admin.Explain(f.ctx(), id.String())
		f.check(err)
		if got := kinds(x); !slices.Equal(got, []admin.Kind{"timer", "message", "join"}) {
			t.Errorf("found %q", got)
		}
		// A timer that fired is its message, but no join.
		fired := f.schedule(timer.Timer{Due: f.now().Add(-time.Hour)})
		f.fire()
		_, err = f.Joins.Start(f.ctx(), join.Spec{ID: join.ID(fired), ExpectedSteps: 1})
		f.check(err)
		x, err = f.Admin.Explain(f.ctx(), fired.String())
		f.check(err)
		if got := kinds(x); !slices.Equal(got, []admin.Kind{"timer", "join"}) {
			t.Errorf("found %q", got)
		}
	})
}

func TestExplainIDUnknown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		long := strings.Repeat("x", 1000)
		for _, id := range []string{"42", "-1", "0198c9a0-5d7e-8a41-9c3f-000000000001", "report", "shop/17", "", "/", " ", long, long + "/" + long, strings.Repeat("/a", 300), "a\x00b", "\xff/\xff", "99999999999999999999"} {
			_, err := f.Admin.Explain(f.ctx(), id)
			if !errors.Is(err, admin.ErrNotFound) || !strings.Contains(err.Error(), "cleaned up") {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}

func TestExplainIDUnknownKind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		if _, err := f.Admin.Explain(f.ctx(), "1", "thing"); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "message, timer, job, run, join or inbox") {
			t.Error(err)
		}
	})
}

// As JSON facts are an object, in their order.
func TestExplainIDJSON(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{Topic: `quo"te`, Due: f.now().Add(time.Hour)})
		text, err := json.Marshal(f.explain(id.String(), "scheduled", "no_worker"))
		f.check(err)
		var back struct {
			Kind, ID, Code, Level, Summary string
			NextStep                       string `json:"next_step"`
			Also                           []struct{ Code, Level string }
			Facts                          map[string]string
		}
		f.check(json.Unmarshal(text, &back))
		if back.Kind != "message" || back.ID != id.String() || back.Code != "scheduled" || back.Summary == "" || back.NextStep == "" || len(back.Also) != 1 ||
			back.Facts["topic"] != `quo"te` || back.Facts["priority"] != "0" {
			t.Errorf("%s", text)
		}
		if !strings.Contains(string(text), `"facts":{"position":"`) {
			t.Errorf("the order is lost: %s", text)
		}
	})
}
