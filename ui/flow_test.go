package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// flowing is a dashboard of flows: one that waits for another one, which waits for a signal, and one that failed.
type flowing struct {
	*fixture
	parent, child, bad outbox.MessageID
}

func openFlows(t *testing.T, e dbtest.Engine) *flowing {
	t.Helper()
	f := &flowing{fixture: openOn(t, e)}
	var steps []string
	for n := range 60 {
		steps = append(steps, fmt.Sprintf("step-%02d%s", n, canary))
	}
	child := flow.New("ship", func(r *flow.Run, _ int) (string, error) {
		for _, name := range steps {
			if _, err := flow.Step(r, name, func(context.Context) (string, error) { return sesame, nil }); err != nil {
				return "", err
			}
		}
		return flow.Wait[string](r, "approval", flow.Within(time.Hour))
	})
	parent := flow.New("checkout", func(r *flow.Run, _ int) (string, error) {
		parts, err := flow.All(r, "extract", []int{1, 2}, func(_ context.Context, n int) (int, error) { return n, nil })
		if err != nil {
			return "", err
		}
		return flow.Call(r, "ship", child, len(parts))
	})
	bad := flow.New("bad", func(r *flow.Run, _ int) (string, error) {
		return flow.Step(r, "charge", func(context.Context) (string, error) { return "", flow.Final(errors.New(sesame)) })
	})
	child.Handle(f.Pawl)
	parent.Handle(f.Pawl)
	bad.Handle(f.Pawl)
	var err error
	f.parent, err = parent.Start(f.ctx(), f.Pawl, 1)
	f.check(err)
	f.bad, err = bad.Start(f.ctx(), f.Pawl, 1)
	f.check(err)
	f.check(f.Start(f.ctx()))
	dbtest.Until(t, "all wait", func() bool {
		for i, err := range f.Flows().List(f.ctx(), outbox.ListOptions{}) {
			f.check(err)
			if i.Waits != nil && i.Waits.State == "signal" {
				f.child = i.ID
			}
		}
		failed, err := f.Outbox.Get(f.ctx(), f.bad)
		f.check(err)
		return !f.child.IsZero() && failed.Status == outbox.Failed
	})
	f.check(f.Stop(f.ctx()))
	f.check(flow.NewSignal[string]("early").Send(f.ctx(), f.Pawl, f.child, sesame))
	return f
}

// D-782: the page of a flow has its steps, a bounded number, what it waits for, signals, its parent and what it
// began. What was returned is for those who may read payloads, errors for those who may read details.
func TestFlowPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openFlows(t, e)
		who := ui.Access{Name: "olga", Operator: true, Details: true, Payloads: true}
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return who, nil }})
		page := func(path string, wanted, unwanted []string) string {
			t.Helper()
			status, body, _ := get(t, s, path)
			if status != http.StatusOK || strings.Contains(body, canary) {
				t.Fatalf("%s: %d %s", path, status, body)
			}
			for _, want := range wanted {
				if !strings.Contains(body, want) {
					t.Errorf("%s as %+v has no %q", path, who, want)
				}
			}
			for _, other := range unwanted {
				if strings.Contains(body, other) {
					t.Errorf("%s as %+v has %q", path, who, other)
				}
			}
			return body
		}
		child, parent, bad := "messages/"+f.child.String(), "messages/"+f.parent.String(), "messages/"+f.bad.String()
		body := page(child, []string{"signal approval", "<dt>Until", "step-00", "step-49", "Next page", "early", sesame, "../" + parent, "do/signal-flow", `value="approval"`, "do/cancel-flow", "pawl flows show " + f.child.String()}, []string{"step-50"})
		next := ""
		for _, to := range linked(t, s.URL+below+"/"+child, body) {
			if strings.Contains(to, "after=") {
				next = strings.TrimPrefix(to, s.URL+below+"/")
			}
		}
		page(next, []string{"step-50", "step-59"}, []string{"step-49"})
		page(parent, []string{"join ", "joins/", "extract", "2 of 2", "└ flow.checkout", child, "flow.ship"}, nil)
		page(bad, []string{"charge", "ending", sesame, "do/retry"}, []string{"do/cancel-flow"})
		who = ui.Access{Name: "rita", Details: true}
		page(child, []string{"step-00", "13 bytes"}, []string{sesame, "do/signal-flow"})
		page(bad, []string{sesame}, nil)
		who = ui.Access{Name: "vera"}
		page(child, []string{"step-00"}, []string{sesame})
		page(bad, []string{"charge", "(not shown)"}, []string{sesame})

		type stored struct {
			Steps, Signals []flow.Event
			Waits          *flow.Event
			Next           string
		}
		api := func(path string) (got stored) {
			_, text, _ := get(t, s, "api/v1/"+path)
			f.check(json.Unmarshal([]byte(text), &got))
			return got
		}
		if got := api(child + "/flow?payload=true"); len(got.Steps) != 50 || got.Next != "50" || got.Steps[0].Data != nil || got.Steps[0].Bytes == 0 || len(got.Signals) != 1 || got.Waits == nil || got.Waits.Name != "approval" {
			t.Errorf("as the viewer has it: %+v", got)
		}
		who.Payloads = true
		if got := api(child + "/flow?payload=true&after=50"); len(got.Steps) != 11 || got.Next != "" || !strings.Contains(string(got.Steps[0].Data), sesame) { // and since when it waits
			t.Errorf("the second page: %+v", got)
		}
		if got := api(child + "/flow"); got.Steps[0].Data != nil {
			t.Errorf("not asked for: %+v", got.Steps[0])
		}
		if status, _, _ := get(t, s, child+"?after=x"); status != http.StatusBadRequest {
			t.Errorf("a page that is none: %d", status)
		}
		none := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return who, nil }, Redact: func(string, []byte) []byte { return []byte("***") }})
		for _, path := range []string{child, "api/v1/" + child + "/flow?payload=true"} {
			if _, body, _ := get(t, none, path); strings.Contains(body, sesame) {
				t.Errorf("%s is not redacted", path)
			}
		}
		page(child, []string{"early"}, []string{"the newest 50"})
		for range 50 {
			f.check(flow.NewSignal[string]("later").Send(f.ctx(), f.Pawl, f.child, ""))
		}
		page(child, []string{"later", "the newest 50"}, []string{"early"})
	})
}

// D-783: an operator sends a flow a signal, and cancels it; the audit trail has both, from every door.
func TestFlowChanges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openFlows(t, e)
		who := ui.Access{Name: "vera", Payloads: true}
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return who, nil }})
		change := func(action string, status int, want string, pairs ...string) {
			t.Helper()
			form := url.Values{"id": {f.child.String()}, "reason": {"because"}}
			for i := 0; i < len(pairs); i += 2 {
				form.Set(pairs[i], pairs[i+1])
			}
			got, body, h := do(t, s, http.MethodPost, "do/"+action, form, nil)
			if got != status || status == http.StatusSeeOther && did(t, s, h) != want {
				t.Errorf("%s: %d, %q, %s", action, got, did(t, s, h), body)
			}
		}
		change("signal-flow", http.StatusForbidden, "", "signal", "approval")
		change("cancel-flow", http.StatusForbidden, "")
		who.Operator = true
		change("signal-flow", http.StatusBadRequest, "", "signal", "approval", "data", "{")
		change("signal-flow", http.StatusBadRequest, "", "signal", "approval", "data", `"`+strings.Repeat("x", 65<<10)+`"`)
		change("signal-flow", http.StatusBadRequest, "", "data", "1")
		change("signal-flow", http.StatusNotFound, "", "id", "0198c9a0-5d7e-8a41-9c3f-000000000001", "signal", "approval")
		change("cancel-flow", http.StatusSeeOther, "nothing was changed: the flow is in another state by now", "id", f.bad.String())
		change("signal-flow", http.StatusSeeOther, "signal sent", "signal", "approval", "data", `"yes"`)
		change("cancel-flow", http.StatusSeeOther, "flow to be cancelled")
		i, err := f.Flows().Get(f.ctx(), f.child)
		f.check(err)
		if len(i.Signals) != 3 || i.Signals[1].Name != "approval" || string(i.Signals[1].Data) != `"yes"` || i.Waits != nil {
			t.Errorf("signals: %+v", i.Signals)
		}
		entries, err := engine.Collect(audit.List(f.ctx(), f.Internal(access.Key{}).DB, audit.Options{}), 10)
		f.check(err)
		if len(entries) != 2 || entries[0].Action != "cancel" || entries[1].Action != "signal" || entries[0].Actor != "vera" || entries[1].Target != "flow "+f.child.String()+" approval" {
			t.Errorf("audited: %+v", entries)
		}
	})
}
