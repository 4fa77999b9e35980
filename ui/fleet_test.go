package ui_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/ui"
)

// tenants is a fleet of two stores and one that cannot be read.
func tenants(t *testing.T) *fleet.Fleet {
	t.Helper()
	dir := t.TempDir()
	f, err := fleet.New(fleet.Static(
		fleet.Database{Key: "acme", URL: "sqlite:" + filepath.Join(dir, "acme.db")},
		fleet.Database{Key: "best", URL: "sqlite:" + filepath.Join(dir, "best.db")},
		fleet.Database{Key: "gone", URL: "postgres://u:topsecret@127.0.0.1:1/none"}, // nobody listens
	), fleet.Options{Engines: map[string]fleet.Opener{"sqlite": sqlite.OpenURL, "postgres": postgres.OpenURL}, Pawl: pawl.Options{EnableSchemaDeployment: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"acme", "best"} {
		p, err := f.Pawl(t.Context(), key)
		if err == nil {
			err = p.Migrate(t.Context())
		}
		if err == nil {
			_, err = p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "order-of-" + key})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// D-218: a page is about all stores, or about the one that is chosen, and one that cannot be reached
// does not keep the others from being shown.
func TestFleet(t *testing.T) {
	f := tenants(t)
	s := serve(t, ui.OfFleet(f), ui.Options{})
	for _, path := range []string{"", "messages", "problems", "failed", "topics", "joins", "inbox", "timers", "jobs", "leases", "workers", "stores", "audit"} {
		status, body, _ := get(t, s, path)
		if status != http.StatusOK || !strings.Contains(body, ">acme<") || !strings.Contains(body, ">best<") || !strings.Contains(body, ">gone<") {
			t.Errorf("%s: %d %s", path, status, body)
		}
		if strings.Contains(body, "topsecret") {
			t.Errorf("%s shows what is in an address", path)
		}
		if inline(body) != "" {
			t.Errorf("%s has %s", path, inline(body))
		}
	}
	_, body, _ := get(t, s, "messages")
	if !strings.Contains(body, "order-of-acme") || !strings.Contains(body, "order-of-best") || !strings.Contains(body, `role="alert"`) {
		t.Errorf("all: %s", body)
	}
	_, body, _ = get(t, s, "messages?store=acme")
	if !strings.Contains(body, "order-of-acme") || strings.Contains(body, "order-of-best") {
		t.Errorf("one: %s", body)
	}
	if status, _, _ := get(t, s, "joins/01a20ec7-aba2-72e3-8d4b-45ddf449c454?store=none"); status != http.StatusNotFound {
		t.Errorf("a store that is not there: %d", status)
	}
}

// D-218: the page of stores says how much waits in each, and nothing of one that does not answer.
func TestStoresSayWhatWaits(t *testing.T) {
	f := tenants(t)
	p, err := f.Pawl(t.Context(), "best")
	if err == nil {
		_, err = p.Outbox.EnqueueBatch(t.Context(), []outbox.Message{{Topic: "t"}, {Topic: "t"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := get(t, serve(t, ui.OfFleet(f), ui.Options{}), "stores")
	for store, want := range map[string]string{"acme": "1", "best": "3", "gone": ""} {
		_, row, _ := strings.Cut(body, ">"+store+"</a>")
		row, _, _ = strings.Cut(row, "</tr>")
		cells := regexp.MustCompile(`<td class="number">([^<]*?)\s*</td>`).FindAllStringSubmatch(row, 3)
		if len(cells) != 3 || cells[0][1] != want || (cells[1][1] != "") != (want != "") || (cells[2][1] == "0") != (want != "") {
			t.Errorf("%s: %v of %s", store, cells, row)
		}
	}
}

// D-219: a change is made in the store that its page is about, and in no other.
func TestFleetChanges(t *testing.T) {
	f := tenants(t)
	s := serve(t, ui.OfFleet(f), ui.Options{})
	form := url.Values{"store": {"best"}, "kind": {"topic"}, "name": {"mail"}, "back": {"topics?store=best"}}
	if status, body, h := do(t, s, http.MethodPost, "do/pause", form, nil); status != http.StatusSeeOther || !strings.HasPrefix(h.Get("Location"), "../topics?") {
		t.Errorf("pause: %d %s", status, body)
	}
	for key, want := range map[string]int{"acme": 0, "best": 1} {
		p, err := f.Pawl(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := p.Admin.Pauses(t.Context()); err != nil || len(all) != want {
			t.Errorf("%s: %v, %v", key, all, err)
		}
	}
}

// D-220: of a fleet the API is asked for one store.
func TestFleetAPI(t *testing.T) {
	s := serve(t, ui.OfFleet(tenants(t)), ui.Options{})
	if status, body, _ := get(t, s, "api/v1/messages"); status != http.StatusBadRequest || !strings.Contains(body, "store") {
		t.Errorf("no store: %d %s", status, body)
	}
	_, body, _ := get(t, s, "api/v1/stores")
	var list struct{ Items []string }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Items) != 3 {
		t.Errorf("%s: %v", body, err)
	}
	if status, body, _ := get(t, s, "api/v1/messages?store=best"); status != http.StatusOK || !strings.Contains(body, "order-of-best") {
		t.Errorf("one: %d %s", status, body)
	}
}

// D-626: a fleet's first line is about its stores, of which the worst stand first.
func TestWorstStoreFirst(t *testing.T) {
	_, body, _ := get(t, serve(t, ui.OfFleet(tenants(t)), ui.Options{}), "")
	shown := text(part(t, body, `<div id="live"`, "</main>"))
	if _, rest, _ := strings.Cut(shown, ">"); !strings.HasPrefix(strings.TrimSpace(rest), "Something is wrong in 1 of 3 stores.") && !strings.Contains(shown, "Something is wrong in 1 of 3 stores. State Store") {
		t.Errorf("the first line: %s", shown)
	}
	if gone, acme := strings.Index(shown, "problem gone"), strings.Index(shown, "acme"); gone < 0 || gone > acme {
		t.Errorf("the stores: %s", shown)
	}
}
