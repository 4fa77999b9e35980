package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

type thing struct {
	Name string `json:"n"`
	note string
}

func things() *listing[thing] {
	return &listing[thing]{
		none: "no things",
		columns: []column[thing]{
			{head: "NAME", cell: func(t *thing) string { return t.Name }},
			{head: "NOTE", cell: func(t *thing) string { return t.note }, optional: true},
		},
		id:    func(t *thing) string { return t.Name },
		pages: true,
	}
}

func TestListsArePrintedAlike(t *testing.T) {
	a, b := thing{"a b", ""}, thing{"b", "new, \x1b[2J"}
	for _, c := range []struct {
		name           string
		output         string
		limit          int
		items          []thing
		stdout, stderr string
	}{
		{"empty", "table", 2, nil, "", "no things\n"},
		{"empty as JSON", "json", 2, nil, "", ""},
		{"empty as CSV", "csv", 2, nil, "NAME\n", ""},
		{"empty ids", "id", 2, nil, "", ""},
		{"without the optional column", "table", 2, []thing{a}, "NAME\na b\n", ""},
		{"with it", "table", 3, []thing{a, b}, "NAME  NOTE\na b\nb     new, \\x1b[2J\n", ""},
		{"full", "table", 2, []thing{b, a}, "NAME  NOTE\nb     new, \\x1b[2J\na b\n", "there may be more: --after 'a b'\n"},
		{"full as JSON", "json", 1, []thing{b}, `{"n":"b"}` + "\n", ""},
		{"as CSV", "csv", 2, []thing{a, b}, "NAME,NOTE\na b,\nb,\"new, \\x1b[2J\"\n", ""},
		{"ids", "id", 2, []thing{a, b}, "a b\nb\n", ""},
	} {
		var stdout, stderr bytes.Buffer
		f := listFlags{limitFlag{c.limit}, outputFlag{c.output}}
		if err := things().print(&app{stdout: &stdout, stderr: &stderr}, &options{}, f, c.items); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: %q %q, want %q %q", c.name, stdout.String(), stderr.String(), c.stdout, c.stderr)
		}
	}
}

func TestListFormats(t *testing.T) {
	for _, c := range []struct {
		output string
		json   bool
		want   string
	}{{"table", false, "table"}, {"", false, "table"}, {"table", true, "json"}, {"json", true, "json"}, {"csv", false, "csv"}, {"csv", true, ""}, {"id", true, ""}, {"yaml", false, ""}} {
		got, err := outputFlag{c.output}.format(&options{JSON: c.json})
		var wrong *usageError
		if got != c.want || (c.want == "") != errors.As(err, &wrong) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestListsHaveTheSameFlags(t *testing.T) {
	parser, err := (&app{}).parser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		path := leaf.Path()
		switch path {
		case "ls", "joins ls", "timers ls", "jobs ls", "jobs runs", "inbox ls", "leases ls", "audit", "backlog", "workers", "pauses", "fleet ls", "fleet status":
		default:
			continue
		}
		path, _, _ = strings.Cut(path, " <")
		found := map[string]string{}
		for _, f := range leaf.Flags {
			found[f.Name] = f.Help
		}
		if !strings.HasPrefix(found["output"], "As a table") {
			t.Errorf("%s: %v", path, found)
		}
		switch path {
		case "audit":
			found["after"] = "Only what follows" // it has no pages
		case "backlog", "workers", "pauses", "fleet ls", "fleet status":
			continue // nor a bound
		}
		if !strings.HasPrefix(found["limit"], "How many") || !strings.HasPrefix(found["after"], "Only what follows") {
			t.Errorf("%s: %v", path, found)
		}
	}
}
