package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"github.com/bravellian/pawl/outbox"}
{"Action":"output","Package":"github.com/bravellian/pawl/outbox","Test":"TestClaim/sqlserver","Output":"    claim_test.go:9: two were claimed\n"}
{"Action":"fail","Package":"github.com/bravellian/pawl/outbox","Test":"TestClaim/sqlserver"}
{"Action":"fail","Package":"github.com/bravellian/pawl/outbox","Test":"TestClaim"}
{"Action":"pass","Package":"github.com/bravellian/pawl/outbox","Test":"TestFail/sqlserver/once"}
{"Action":"pass","Package":"github.com/bravellian/pawl/outbox","Test":"TestFail/sqlserver/twice"}
{"Action":"pass","Package":"github.com/bravellian/pawl/outbox","Test":"TestFail/sqlserver"}
{"Action":"pass","Package":"github.com/bravellian/pawl/outbox","Test":"TestFail"}
{"Action":"pass","Package":"github.com/bravellian/pawl/outbox","Test":"TestNeedsNoServer"}
{"Action":"skip","Package":"github.com/bravellian/pawl/outbox","Test":"TestStress/sqlserver"}
{"Action":"fail","Package":"github.com/bravellian/pawl/outbox"}
{"Action":"pass","Package":"github.com/bravellian/pawl/sqlserver/internal/sqlserver","Test":"TestGrantOnSQLServer"}
{"Action":"pass","Package":"github.com/bravellian/pawl/sqlserver/internal/sqlserver","Test":"TestWire"}
{"Action":"pass","Package":"github.com/bravellian/pawl/sqlserver/internal/sqlserver"}
{"Action":"output","Package":"github.com/bravellian/pawl/timer","Output":"panic: no\n"}
{"Action":"fail","Package":"github.com/bravellian/pawl/timer"}
go: a line of the go command
`

func row2022(pkg string, passed, failed int) row {
	return row{"2022", "READ_COMMITTED_SNAPSHOT on", pkg, passed, failed, "0123456", "2026-11-29"}
}

// D-821: a run counts tests that talked to the server, each once, and packages that failed without one.
func TestRun(t *testing.T) {
	var out strings.Builder
	found, err := read(strings.NewReader(events), &out)
	if err != nil {
		t.Fatal(err)
	}
	want := table([]row{row2022("outbox", 2, 1), row2022("sqlserver/internal/sqlserver", 1, 0), row2022("timer", 0, 1)})
	if got := table(found.rows(row2022("", 0, 0))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := fmt.Sprint(found.failures()); got != "[outbox:TestClaim/sqlserver timer]" {
		t.Error(got)
	}
	for _, part := range []string{"two were claimed", "panic: no", "a line of the go command"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is not printed: %s", part, out.String())
		}
	}
}

// D-821: a run is recorded on a server that is described, fails when a test did, and when none ran.
func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.md")
	pass := `{"Action":"pass","Package":"github.com/bravellian/pawl","Test":"TestX/sqlserver"}` + "\n"
	for _, c := range []struct{ is, in, want string }{
		{"", pass, "which server"},
		{"2022 | READ_COMMITTED_SNAPSHOT on", events, "2 failed: outbox:TestClaim/sqlserver timer"},
		{"2022 | READ_COMMITTED_SNAPSHOT on", `{"Action":"pass","Package":"github.com/bravellian/pawl","Test":"TestX"}`, "no test ran"},
		{"2022 | READ_COMMITTED_SNAPSHOT on", pass, ""},
	} {
		t.Setenv(variable, c.is)
		err := recordRun(strings.NewReader(c.in), &strings.Builder{}, file)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.is, err, c.want)
		}
	}
	text, err := os.ReadFile(file)
	rows, parseErr := parse(string(text))
	if err != nil || parseErr != nil || len(rows) != 1 || rows[0].Package != "pawl" || rows[0].Passed != 1 {
		t.Errorf("%v %v %v", rows, err, parseErr)
	}
}

// D-821: rows of what is no SQL Server, and rows that say nothing, are refused.
func TestRowsRefused(t *testing.T) {
	for line, want := range map[string]string{
		"| 2022 | READ_COMMITTED_SNAPSHOT on | outbox | 1 | 0 | 0123456 | 2026-11-29 |":                 "",
		"| 2022 | READ_COMMITTED_SNAPSHOT off, Turkish_CI_AS | outbox | 1 | 2 | 0123456 | 2026-11-29 |": "",
		"| Babelfish | READ_COMMITTED_SNAPSHOT on | outbox | 1 | 0 | 0123456 | 2026-11-29 |":            "no version",
		"| 2022 | fast | outbox | 1 | 0 | 0123456 | 2026-11-29 |":                                       "no setting",
		"| 2022 | READ_COMMITTED_SNAPSHOT on | outbox | 0 | 0 | 0123456 | 2026-11-29 |":                 "no numbers",
		"| 2022 | READ_COMMITTED_SNAPSHOT on | outbox | many | 0 | 0123456 | 2026-11-29 |":              "no numbers",
		"| 2022 | READ_COMMITTED_SNAPSHOT on | outbox | 1 | 0 | main | 2026-11-29 |":                    "no commit",
		"| 2022 | READ_COMMITTED_SNAPSHOT on | outbox | 1 | 0 | 0123456 | today |":                      "no date",
		"| 2022 | READ_COMMITTED_SNAPSHOT on |  | 1 | 0 | 0123456 | 2026-11-29 |":                       "no package",
		"All tests passed.": "cells",
	} {
		_, err := parse("# Title\n\n" + header + line + "\n")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	twice := table([]row{row2022("outbox", 1, 0), row2022("outbox", 2, 0)})
	if _, err := parse(twice); err == nil {
		t.Error("a row stands twice")
	}
	if _, err := parse("# Title\n"); err == nil {
		t.Error("a file without the table was read")
	}
}

// D-820: without rows, and with a failure, a changed tree or a version that is missing, it is a preview.
func TestStatus(t *testing.T) {
	var all []row
	versions, settings := matrix()
	for _, v := range versions {
		for _, s := range settings {
			all = append(all, row{v, s, "outbox", 10, 0, "0123456", "2026-11-29"})
		}
	}
	const full = "tested on 2017, 2019, 2022, 2025 (commit 0123456, from 2026-11-29 on): 160 of 160 tests passed"
	but := func(change func(r *row)) []row {
		rows := append([]row(nil), all...)
		change(&rows[3])
		return rows
	}
	for _, c := range []struct {
		rows []row
		want string
	}{
		{nil, "a preview: no SQL Server has run it"},
		{all, full},
		{all[1:], "a preview, tested on"},
		{but(func(r *row) { r.Failed = 1 }), "a preview, tested on 2017, 2019, 2022, 2025 (commit 0123456, from 2026-11-29 on): 160 of 161"},
		{but(func(r *row) { r.Commit = "0123456-dirty" }), "a preview, tested on"},
		{but(func(r *row) { r.Package = "timer" }), "a preview, tested on"},
		{but(func(r *row) { r.Date, r.Commit = "2026-10-01", "abcdef0" }), "tested on 2017, 2019, 2022, 2025 (commit 0123456, abcdef0, from 2026-10-01 on): 160 of 160"},
	} {
		if got := status(c.rows); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// D-820: what any place says is compared with the file, and written on demand.
func TestSentences(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string]string{}
	for _, p := range places() {
		texts[p.file] += "Before." + p.before + "a preview: no SQL Server has run it" + p.after + "Behind."
	}
	write(file, "# Evidence\n\n"+header)
	for name, text := range texts {
		write(name, text)
	}
	if err := sentences(root, false); err != nil {
		t.Fatal(err)
	}
	for _, p := range places() {
		write(p.file, strings.ReplaceAll(texts[p.file], p.before+"a preview: no SQL Server has run it", p.before+"ready for production"))
		if err := sentences(root, false); err == nil || !strings.Contains(err.Error(), p.file) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", p.file, err)
		}
		if err := sentences(root, true); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(filepath.Join(root, p.file)); err != nil || string(text) != texts[p.file] {
			t.Errorf("%s is written as %q: %v", p.file, text, err)
		}
	}
	run := filepath.Join(root, "run.md")
	write("run.md", table([]row{row2022("outbox", 3, 0)}))
	write(file, "# Evidence\n\n"+table([]row{row2022("timer", 3, 0), {"2019", "READ_COMMITTED_SNAPSHOT on", "timer", 1, 0, "0123456", "2026-11-28"}}))
	if err := mergeFiles(filepath.Join(root, file), []string{run}); err != nil {
		t.Fatal(err)
	}
	merged, err := os.ReadFile(filepath.Join(root, file))
	if want := "# Evidence\n\n" + table([]row{{"2019", "READ_COMMITTED_SNAPSHOT on", "timer", 1, 0, "0123456", "2026-11-28"}, row2022("outbox", 3, 0)}); err != nil || string(merged) != want {
		t.Errorf("got\n%s%v", merged, err)
	}
	if err := sentences(root, false); err == nil {
		t.Error("with rows every sentence is another")
	}
}

// D-820: what is said is what has been seen.
func TestRepository(t *testing.T) {
	if err := sentences("../..", false); err != nil {
		t.Error(err)
	}
}

// D-820: the workflow runs what a complete file has, by targets that the Makefile has.
func TestWorkflow(t *testing.T) {
	text := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	workflow, settings, makefile := text(".github/workflows/sqlserver.yml"), text("sqlserver/internal/withsqlserver/database.go"), text("Makefile")
	list := func(key string) []string {
		t.Helper()
		m := regexp.MustCompile(key + `: \[(.*)\]`).FindStringSubmatch(workflow)
		if m == nil {
			t.Fatalf("the matrix has no %s", key)
		}
		return strings.Split(strings.ReplaceAll(m[1], `"`, ""), ", ")
	}
	versions, described := matrix()
	if got := list("version"); !slices.Equal(got, versions) {
		t.Errorf("the workflow runs %q, a complete file has %q", got, versions)
	}
	var made []string
	for _, name := range list("setting") {
		m := regexp.MustCompile(`\{"` + name + `", ("?)(\w+)"?, "(ON|OFF)"\}`).FindStringSubmatch(settings)
		if m == nil {
			t.Errorf("withsqlserver has no setting %s", name)
			continue
		}
		is := "READ_COMMITTED_SNAPSHOT " + strings.ToLower(m[3])
		if m[1] != "" { // not the usual one
			is += ", " + m[2]
		}
		made = append(made, is)
	}
	if !slices.Equal(made, described) {
		t.Errorf("the workflow makes %q, a complete file has %q", made, described)
	}
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	for _, name := range files {
		for _, m := range regexp.MustCompile(`run: make ([a-z-]+)`).FindAllStringSubmatch(text(strings.TrimPrefix(name, "../../")), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: no target %s", name, m[1])
			}
		}
	}
}
