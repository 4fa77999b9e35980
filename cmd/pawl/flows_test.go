package main

import (
	"context"
	"strings"
	"testing"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/outbox"
)

// D-772: "pawl flows" shows what a flow did and waits for, and sends signals; explain says the same.
func TestFlows(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		fl := flow.New("deploy", func(f *flow.Run, _ int) (string, error) {
			if _, err := flow.Step(f, "build", func(context.Context) (string, error) { return "ok", nil }); err != nil {
				return "", err
			}
			return flow.Wait[string](f, "approval")
		})
		var id outbox.MessageID
		d.opened(func(s *store) {
			p := s.pawl()
			fl.Handle(p)
			var err error
			if id, err = fl.Start(t.Context(), p, 1); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			for parked := false; !parked; {
				i, err := p.Flows().Get(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				parked = i.Waits != nil
			}
			if err := p.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		flowID := id.String()
		shown := d.must("", "flows", "show", flowID)
		for _, want := range []string{"flow.deploy", "waits for signal approval since", "build", "done", "4 bytes"} {
			if !strings.Contains(shown, want) {
				t.Errorf("show has no %q:\n%s", want, shown)
			}
		}
		if got := d.must("", "flows", "show", "--json", flowID); !strings.Contains(got, `"waits":{"name":"approval"`) {
			t.Errorf("JSON: %s", got)
		}
		if got := d.must("", "explain", flowID); !strings.Contains(got, `The flow waits for signal "approval".`) || !strings.Contains(got, "pawl flows signal "+flowID+" approval") {
			t.Errorf("explain: %s", got)
		}
		if r := d.run("", "flows", "signal", flowID, "approval", "--data", "{"); r.code == exitOK || !strings.Contains(r.stderr, "not JSON") {
			t.Errorf("bad JSON: %+v", r)
		}
		if got := d.must("", "flows", "signal", flowID, "approval", "--data", `"yes"`); got != flowID+"  sent\n" {
			t.Errorf("signal: %q", got)
		}
		if got := d.must("", "flows", "show", flowID); strings.Contains(got, "waits for") || !strings.Contains(got, "SIGNAL") {
			t.Errorf("after the signal: %s", got)
		}
		if got := d.must("", "flows", "cancel", flowID); got != flowID+"  to be cancelled\n" {
			t.Errorf("cancel: %q", got)
		}
		d.opened(func(s *store) {
			p := s.pawl()
			fl.Handle(p)
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := fl.Await(t.Context(), p, id); err == nil || !strings.HasSuffix(err.Error(), flow.ErrCancelled.Error()) {
				t.Errorf("it ended with %v", err)
			}
			if err := p.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		if got := d.must("", "flows", "cancel", flowID); got != flowID+"  was over already\n" {
			t.Errorf("cancel again: %q", got)
		}
		if r := d.run("", "flows", "show", "x"); r.code != exitUsage {
			t.Errorf("no id: %+v", r)
		}
		if r := d.run("", "flows", "signal", "0198c9a0-5d7e-8a41-9c3f-000000000001", "a"); r.code == exitOK || !strings.Contains(r.stderr, "not found") {
			t.Errorf("nobody: %+v", r)
		}
	})
}
