package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// D-411: a redrive at a rate is answered at once, and goes on when the tab that asked for it is
// closed; it is seen on its page and in the API, and stopped there by operators.
func TestBulkActs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for range 4 {
			f.fails("more")
		}
		as := ui.Access{Name: "olga", Operator: true}
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return as, nil }})
		ctx, closeTab := context.WithCancel(f.ctx())
		status, _, h := do(t, s, http.MethodPost, "do/retry", url.Values{"topic": {"more"}, "limit": {"4"}, "rate": {"2"}, "back": {"failed"}}, func(r *http.Request) { *r = *r.WithContext(ctx) })
		closeTab()
		if want := "4 messages to be redriven by workers, 2 a second: see Bulk acts"; status != http.StatusSeeOther || did(t, s, h) != want {
			t.Fatalf("%d, to %s: %s", status, h.Get("Location"), did(t, s, h))
		}
		var list struct{ Items []acts.Bulk }
		f.decode(s, "api/v1/bulk", &list)
		if len(list.Items) != 1 || list.Items[0].Status != acts.Stored || list.Items[0].Actor != "olga" || list.Items[0].Total != 4 || list.Items[0].Filter.Topic != "more" {
			t.Fatalf("%+v", list)
		}
		b := list.Items[0]
		if _, err := f.Internal(access.Key{}).Sources()[0].Dispatch(f.ctx()); err != nil {
			t.Fatal(err)
		}
		f.decode(s, "api/v1/bulk/"+b.ID.String(), &b)
		if b.Status != acts.Running || b.Changed != 2 {
			t.Fatalf("%+v", b)
		}
		if _, body, _ := get(t, s, "bulk"); !strings.Contains(body, "failed messages of topic more") || !strings.Contains(body, "running") || !strings.Contains(body, b.ID.String()) {
			t.Errorf("the page:\n%s", body)
		}
		as = ui.Access{Name: "vera"}
		for _, path := range []string{"api/v1/bulk/" + b.ID.String() + "/stop", "do/stop-bulk"} {
			if status, _, _ := do(t, s, http.MethodPost, path, url.Values{"id": {b.ID.String()}}, nil); status != http.StatusForbidden {
				t.Errorf("a viewer at %s: %d", path, status)
			}
		}
		as = ui.Access{Name: "oleg", Operator: true}
		if status, _, _ := do(t, s, http.MethodGet, "api/v1/bulk/"+b.ID.String()+"/stop", nil, nil); status == http.StatusOK {
			t.Error("a link stops an act")
		}
		status, body, _ := do(t, s, http.MethodPost, "api/v1/bulk/"+b.ID.String()+"/stop?reason=enough", nil, nil)
		if err := json.Unmarshal([]byte(body), &b); err != nil || status != http.StatusOK || b.Status != acts.Stopped || b.StoppedBy != "oleg" || b.Changed != 2 {
			t.Fatalf("%d %s, %v", status, body, err)
		}
		status, _, h = do(t, s, http.MethodPost, "do/stop-bulk", url.Values{"id": {b.ID.String()}, "back": {"bulk"}}, nil)
		if want := "stopped: 2 messages redriven"; status != http.StatusSeeOther || did(t, s, h) != want {
			t.Errorf("%d, to %s", status, h.Get("Location"))
		}
		for path, want := range map[string]int{"api/v1/bulk/nonsense": http.StatusBadRequest, "api/v1/bulk/00000000-0000-0000-0000-000000000001": http.StatusNotFound} {
			if status, body, _ := get(t, s, path); status != want {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	})
}

var errNo = errors.New("no")

// fails stores a message of a topic that has failed.
func (f *fixture) fails(topic string) { f.failsWith(topic, errNo) }

func (f *fixture) failsWith(topic string, failure error) {
	f.t.Helper()
	_, err := f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: topic, Queue: topic})
	f.check(err)
	owner := outbox.NewOwnerToken()
	claimed, err := f.Outbox.WorkQueue(topic).Claim(f.ctx(), owner, time.Minute, 1)
	f.check(err)
	_, err = f.Outbox.WorkQueue("").Fail(f.ctx(), owner, failure, claimed[0].Position)
	f.check(err)
}

// decode reads a resource of the API.
func (f *fixture) decode(s *httptest.Server, path string, to any) {
	f.t.Helper()
	status, body, _ := get(f.t, s, path)
	if err := json.Unmarshal([]byte(body), to); err != nil || status != http.StatusOK {
		f.t.Fatalf("%s: %d %s, %v", path, status, body, err)
	}
}
