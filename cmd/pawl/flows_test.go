package main

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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
		for _, want := range []string{"flow.deploy", "waits for signal approval since", "ATTEMPTS", "build", "done", "4 bytes"} {
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

// D-780: "pawl flows ls" lists runs with what each waits for; parts are left out, and what is no flow.
func TestFlowsLs(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		wait := flow.New("approve", func(f *flow.Run, _ int) (string, error) { return flow.Wait[string](f, "yes", flow.Within(time.Hour)) })
		ask := flow.New("ask", func(f *flow.Run, _ int) (string, error) { return flow.Wait[string](f, "answer") })
		nap := flow.New("nap", func(f *flow.Run, _ int) (int, error) { return 0, f.Sleep("night", time.Hour) })
		fan := flow.New("fan", func(f *flow.Run, _ int) ([]int, error) {
			return flow.All(f, "parts", []int{1, 2}, func(context.Context, int) (int, error) { return 0, outbox.RetryAfter(time.Hour, errors.New("later")) })
		})
		fails := flow.New("fails", func(*flow.Run, int) (int, error) { return 0, flow.Final(errors.New("no luck")) })
		ids, positions := map[string]string{}, map[string]string{}
		d.opened(func(s *store) {
			p, ctx := s.pawl(), t.Context()
			wait.Handle(p)
			ask.Handle(p)
			nap.Handle(p)
			fan.Handle(p)
			fails.Handle(p)
			for _, start := range []func(context.Context, flow.Host, int, ...flow.Options) (outbox.MessageID, error){wait.Start, ask.Start, nap.Start, fan.Start, fails.Start} {
				id, err := start(ctx, p, 1)
				if err != nil {
					t.Fatal(err)
				}
				i, err := p.Outbox.Get(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				name := strings.TrimPrefix(i.Topic, flow.TopicPrefix)
				ids[name], positions[name] = id.String(), strconv.FormatInt(int64(i.Position), 10)
			}
			if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "flowers"}); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(ctx); err != nil {
				t.Fatal(err)
			}
			for left := 1; left > 0; { // parts, and what waits
				n, err := p.Outbox.Count(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if left = int(n.Ready + n.InProgress - 1); n.Retrying < 2 {
					left = 1
				}
			}
			if err := p.Stop(ctx); err != nil {
				t.Fatal(err)
			}
		})
		listed := map[string]string{}
		for line := range strings.Lines(d.must("", "flows", "ls")) {
			for name, id := range ids {
				if strings.Contains(line, id) {
					listed[name] = line
				}
			}
			if strings.Contains(line, "flowers") {
				t.Errorf("no flow: %s", line)
			}
		}
		for name, want := range map[string]string{
			"approve": "scheduled .* signal yes since [^u]* until 2", "ask": "scheduled .* signal answer since [^u]*$", "nap": "scheduled .* time since .* until 2",
			"fan": "scheduled .* join [0-9a-f-]{36} since [^u]*$", "fails": "failed .* no luck",
		} {
			if !regexp.MustCompile(want).MatchString(strings.TrimSpace(listed[name])) {
				t.Errorf("%s is listed as %q, want %s", name, listed[name], want)
			}
		}
		if got := strings.Count(d.must("", "flows", "ls", "-o", "id"), "\n"); got != len(ids) {
			t.Errorf("%d flows, want %d", got, len(ids))
		}
		for want, args := range map[string][]string{"nap": {"--flow", "nap"}, "fails": {"--status", "failed"}, "approve": {"--json", "--after", positions["ask"]}} {
			if got := d.must("", append([]string{"flows", "ls"}, args...)...); !strings.Contains(got, ids[want]) || strings.Contains(got, ids["ask"]) {
				t.Errorf("%v: %s", args, got)
			}
		}
		if got := d.must("", "flows", "ls", "--json", "--flow", "approve"); !strings.Contains(got, `"waits":{"name":"yes","state":"signal"`) {
			t.Errorf("JSON: %s", got)
		}
		if r := d.run("", "flows", "ls", "--limit", "0"); r.code != exitUsage {
			t.Errorf("no limit: %+v", r)
		}
		d.must("", "retry", ids["fails"])
		if got := d.must("", "flows", "ls", "--status", "ready"); !strings.Contains(got, ids["fails"]) {
			t.Errorf("after the retry: %s", got)
		}
	})
}
