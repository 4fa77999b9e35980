package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// objectList has a line for everything that the migrations make, as doctorObjects lists it. A
// test compares it with the migrations.
const objectList = "doctor/objects.txt"

// current reports whether the schema is of this build, and not of a newer one.
func (x *examiner) current(ctx context.Context) bool {
	status, err := x.SchemaStatus(ctx)
	return err == nil && status.Err == nil && !status.Newer
}

// doctorObjects lists the objects in a schema under a prefix.
type doctorObjects struct {
	engine.Rows[object]
	Schema, Prefix string
}

type object struct {
	Line  string // as in the list, without schema and prefix
	Sound bool
}

func expectedObjects() []string {
	text, err := files.ReadFile(objectList)
	if err != nil {
		return nil // it is embedded
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// expectedTables returns the names of pawl's tables, prefix included.
func (x *examiner) expectedTables() (names []string) {
	for _, line := range expectedObjects() {
		if name, ok := strings.CutPrefix(line, "table "); ok {
			names = append(names, x.opts.Prefix+name)
		}
	}
	return names
}

// objects looks for everything that the migrations make. A schema that is not of
// this build is another check's matter.
func (x *examiner) objects(ctx context.Context) ([]health.Finding, error) {
	if !x.current(ctx) {
		return nil, nil
	}
	found, err := x.differences(ctx)
	return engine.OrOK(found, fmt.Sprintf("all %d tables, columns, indexes, constraints, views and routines are there", len(expectedObjects()))), err
}

// differences are what the migrations make and is not there, or not as they make it.
func (x *examiner) differences(ctx context.Context) (found []health.Finding, err error) {
	there, err := engine.Query(ctx, x, doctorObjects{Schema: x.opts.Schema, Prefix: x.opts.Prefix})
	if err != nil {
		return nil, err
	}
	want := expectedObjects()
	sound := map[string]bool{}
	for _, o := range there {
		sound[o.Line] = sound[o.Line] || o.Sound
	}
	for _, line := range want {
		if ok, exists := sound[line]; !ok && !x.implied(line, sound) {
			found = append(found, x.lacking(line, exists))
		}
	}
	return found, nil
}

// implied reports whether a line belongs to a table that is missing itself.
func (x *examiner) implied(line string, there map[string]bool) bool {
	kind, rest, _ := strings.Cut(line, " ")
	if kind == "index" {
		_, rest, _ = strings.Cut(rest, " ON pawl.")
	}
	if !slices.Contains([]string{"column", "index", "constraint"}, kind) {
		return false
	}
	end := strings.IndexAny(rest, " .")
	return end > 0 && !there["table "+rest[:end]]
}

// lacking is something that is missing, or there and unusable.
func (x *examiner) lacking(line string, exists bool) health.Finding {
	const byHand = "Somebody changed the schema by hand: restore it from a backup, or by its statement in pawl's migrations (internal/sql/postgres/schema)."
	kind, rest, _ := strings.Cut(line, " ")
	sql := x.folder.Names.Render(rest)
	switch {
	case exists && kind == "index":
		return engine.NewFinding(health.Problem, "invalid index: "+rest, "Building it failed. Drop it, and: "+sql)
	case exists:
		return engine.NewFinding(health.Problem, "not valid: "+line, byHand)
	case kind == "index":
		return engine.NewFinding(health.Problem, "missing index: "+rest, sql)
	case kind == "function":
		name, _, _ := strings.Cut(rest, ") ")
		return engine.NewFinding(health.Problem, "missing or changed function: "+name+")", byHand)
	}
	return engine.NewFinding(health.Problem, "missing or changed "+kind+": "+rest, byHand)
}
