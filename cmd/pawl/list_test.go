package main

import (
	"bytes"
	"strings"
	"testing"
)

type thing struct{ name, note string }

func things() *listing[thing] {
	return &listing[thing]{
		none: "no things",
		columns: []column[thing]{
			{head: "NAME", cell: func(t thing) string { return t.name }},
			{head: "NOTE", cell: func(t thing) string { return t.note }, optional: true},
		},
		cursor: func(t thing) string { return t.name },
		view:   func(t thing) any { return map[string]string{"name": t.name} },
	}
}

func TestListsArePrintedAlike(t *testing.T) {
	a, b := thing{"a b", ""}, thing{"b", "new"}
	l := things()
	for _, c := range []struct {
		name           string
		p              page[thing]
		json           bool
		stdout, stderr string
	}{
		{"empty", page[thing]{}, false, "", "no things\n"},
		{"empty as JSON", page[thing]{}, true, "", ""},
		{"without the optional column", l.page([]thing{a}, 2), false, "NAME\na b\n", ""},
		{"with it", l.page([]thing{a, b}, 3), false, "NAME  NOTE\na b\nb     new\n", ""},
		{"full", l.page([]thing{b, a}, 2), false, "NAME  NOTE\nb     new\na b\n", "there may be more: --after 'a b'\n"},
		{"full as JSON", l.page([]thing{b}, 1), true, `{"name":"b"}` + "\n", ""},
	} {
		var stdout, stderr bytes.Buffer
		if err := l.print(&app{stdout: &stdout, stderr: &stderr}, c.json, c.p); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: %q %q, want %q %q", c.name, stdout.String(), stderr.String(), c.stdout, c.stderr)
		}
	}
}

type tagged struct {
	Name string `json:"n"`
}

func TestItemsPrintThemselves(t *testing.T) {
	var stdout bytes.Buffer
	l := &listing[tagged]{}
	if err := l.print(&app{stdout: &stdout}, true, page[tagged]{items: []tagged{{"a"}}}); err != nil || stdout.String() != `{"n":"a"}`+"\n" {
		t.Errorf("%v %q", err, stdout.String())
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
		case "ls", "joins ls", "timers ls", "jobs ls", "jobs runs", "inbox ls", "leases ls":
		default:
			continue
		}
		path, _, _ = strings.Cut(path, " <")
		found := map[string]string{}
		for _, f := range leaf.Flags {
			found[f.Name] = f.Help
		}
		if !strings.HasPrefix(found["limit"], "How many") || !strings.HasPrefix(found["after"], "Only what follows") {
			t.Errorf("%s: %v", path, found)
		}
	}
}
