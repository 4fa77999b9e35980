package ui_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// schema is a part of a description in OpenAPI.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
}

type description struct {
	Paths      map[string]struct{ Get, Post *operation }
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	Parameters []struct{ Name, In string }
	Responses  map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
}

// conforms reports where a value is not as a schema says: it has what is not described, or lacks what
// is required.
func (d *description) conforms(t *testing.T, at string, s *schema, value any) {
	t.Helper()
	if s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	switch v := value.(type) {
	case map[string]any:
		if s.Properties == nil {
			return
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				t.Errorf("%s lacks %s", at, name)
			}
		}
		for name, one := range v {
			if s.Properties[name] == nil {
				t.Errorf("%s has %s, which is not described", at, name)
				continue
			}
			d.conforms(t, at+"."+name, s.Properties[name], one)
		}
	case []any:
		for _, one := range v {
			if s.Items != nil {
				d.conforms(t, at+"[]", s.Items, one)
			}
		}
	case string:
		if s.Type != "string" && s.Type != "" {
			t.Errorf("%s is a string, described as %s", at, s.Type)
		}
	case float64:
		if s.Type != "integer" && s.Type != "number" && s.Type != "" {
			t.Errorf("%s is a number, described as %s", at, s.Type)
		}
	}
}

// D-220: everything that the API answers with is as its description says, and the description is that
// of the documentation.
func TestAPI(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		_, text, _ := get(t, s, "api/v1/openapi.json")
		var d description
		f.check(json.Unmarshal([]byte(text), &d))
		if len(d.Paths) < 20 {
			t.Errorf("%d paths", len(d.Paths))
		}
		bulk, err := f.Outbox.Redrive(f.ctx(), outbox.FailedFilter{Topic: "none", Rate: 1})
		f.check(err)
		for path, one := range d.Paths {
			at := strings.NewReplacer("/joins/{id}", "/joins/"+f.join.String(), "/bulk/{id}", "/bulk/"+bulk.ID.String(), "{id}", f.failed.String(), "{name}", "nightly%2F"+strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(canary, `"`, "%22"), "<", "%3C"), "/", "%2F")).Replace(path)
			method, is := http.MethodGet, one.Get
			if one.Post != nil {
				method, is = http.MethodPost, one.Post
			}
			status, body, h := do(t, s, method, strings.TrimPrefix(strings.ReplaceAll(strings.ReplaceAll(at, " ", "%20"), ">", "%3E"), "/"), nil, nil)
			var value any
			if err := json.Unmarshal([]byte(body), &value); err != nil || status != http.StatusOK || h.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s %v", at, status, body, err)
				continue
			}
			d.conforms(t, path, is.Responses["200"].Content["application/json"].Schema, value)
			if strings.Contains(body, "secret") {
				t.Errorf("%s has a payload", at)
			}
		}
		for _, path := range []string{"api/v1/messages/nonsense", "api/v1/joins/x", "api/v1/messages?older=soon", "api/v1/leases?status=x", "api/v1/inbox?status=x", "api/v1/joins?status=x&group=g", "api/v1/joins/" + f.join.String() + "/members?status=x", "api/v1/timers?status=x", "api/v1/messages/99999999"} {
			if status, body, _ := get(t, s, path); status < 400 || status > 499 || !strings.Contains(body, `"error"`) {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	})
}

// D-220: the description of the API is that of its resources, as it is served and in the documentation. Write it anew
// with PAWL_UPDATE=1.
func TestDescription(t *testing.T) {
	text, err := ui.Description()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"assets/openapi.json", "../docs/openapi.json"} {
		if os.Getenv("PAWL_UPDATE") != "" {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if known, err := os.ReadFile(file); err != nil || string(known) != string(text) {
			t.Errorf("%s is out of date: run PAWL_UPDATE=1 go test ./ui -run TestDescription; %v", file, err)
		}
	}
}

// D-220: pages of a list are found by what the API says of the next one.
func TestAPIPages(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	for range 120 {
		f.check2(f.Outbox.Enqueue(f.ctx(), messageOf("many")))
	}
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	seen, after, pages := map[string]bool{}, "", 0
	for ; pages == 0 || after != ""; pages++ {
		_, body, _ := get(t, s, "api/v1/messages?topic=many&after="+after)
		var page struct {
			Items []struct {
				ID string `json:"message_id"`
			}
			Next string
		}
		f.check(json.Unmarshal([]byte(body), &page))
		for _, m := range page.Items {
			seen[m.ID] = true
		}
		after = page.Next
	}
	if len(seen) != 120 || pages != 3 {
		t.Errorf("%d messages on %d pages", len(seen), pages)
	}
}
