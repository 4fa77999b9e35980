package sqlserver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// doctorObjects lists what there is in a schema under a prefix.
type doctorObjects struct {
	engine.Rows[object]
	Schema, Prefix string
}

// object is a table, sequence, type, view or routine, or a column or index with its
// table's name before it.
type object struct {
	Kind, Name string
	Sound      bool // an index that is not disabled
}

// doctorChanged reads the texts of routines and views, those that this user may see.
type doctorChanged struct {
	engine.Rows[module]
	Schema, Prefix string
}

type module struct{ Name, Definition string }

// doctorUnchecked lists constraints that the server does not rely on.
type doctorUnchecked struct {
	engine.Rows[unchecked]
	Schema, Prefix string
}

type unchecked struct {
	Name, OfTable string
	Disabled      bool
}

var (
	createdTable = regexp.MustCompile(`(?ms)^CREATE TABLE "[^"]*"\."([^"]*)" \(\n(.*?)^\);`)
	// A column's line begins with its name and type; what is no column, with a word that
	// no column has.
	createdColumn = regexp.MustCompile(`(?m)^  ("?)(\w+)("?) +[a-zA-Z]`)
	addedColumn   = regexp.MustCompile(`(?m)^ALTER TABLE "[^"]*"\."([^"]*)" ADD ([a-z]\w*) `)
	createdOther  = regexp.MustCompile(`(?m)^CREATE (SEQUENCE|TYPE) "[^"]*"\."([^"]*)"`)
	createdIndex  = regexp.MustCompile(`(?m)^CREATE (?:UNIQUE )?INDEX (\w+) ON "[^"]*"\."([^"]*)"[^;]*`)
)

// indexStatements are the statements that make indexes, by their names in [expectedObjects].
func indexStatements(f *engine.Folder) map[string]string {
	all := map[string]string{}
	for _, m := range f.Migrations {
		for _, i := range createdIndex.FindAllStringSubmatch(f.Names.Render(m.Text), -1) {
			all[i[2]+"."+i[1]] = i[0]
		}
	}
	return all
}

// expectedObjects is everything with a name that the migrations make, under the names of
// the folder. Constraints have names that the server makes.
func expectedObjects(f *engine.Folder) (all []object) {
	add := func(kind, name string) {
		if o := (object{kind, name, true}); !slices.Contains(all, o) { // an index was made again with other columns
			all = append(all, o)
		}
	}
	for _, o := range createdOther.FindAllStringSubmatch(f.Names.Render(makeTypes), -1) {
		add(strings.ToLower(o[1]), o[2])
	}
	for _, m := range f.Migrations {
		text := f.Names.Render(m.Text)
		for _, t := range createdTable.FindAllStringSubmatch(text, -1) {
			add("table", t[1])
			for _, c := range createdColumn.FindAllStringSubmatch(t[2], -1) {
				if !slices.Contains([]string{"PRIMARY", "UNIQUE", "CHECK", "INDEX", "CONSTRAINT"}, c[2]) {
					add("column", t[1]+"."+c[2])
				}
			}
		}
		for _, c := range addedColumn.FindAllStringSubmatch(text, -1) {
			add("column", c[1]+"."+c[2])
		}
		for _, o := range createdOther.FindAllStringSubmatch(text, -1) {
			add(strings.ToLower(o[1]), o[2])
		}
		for _, i := range createdIndex.FindAllStringSubmatch(text, -1) {
			add("index", i[2]+"."+i[1])
		}
	}
	for _, o := range f.Objects {
		add(map[string]string{engine.Routines: "routine", engine.Views: "view"}[o.Kind], f.Names.Prefix+o.Name)
	}
	return all
}

// current reports whether the schema is of this build, and of no newer one.
func (x *examiner) current(ctx context.Context) bool {
	status, err := x.SchemaStatus(ctx)
	return err == nil && status.Err == nil && !status.Newer
}

// objects checks everything that the migrations make. A schema that is not of this build is
// another check's matter.
func (x *examiner) objects(ctx context.Context) ([]health.Finding, error) {
	if !x.current(ctx) {
		return nil, nil
	}
	found, err := x.differences(ctx)
	return engine.OrOK(found, fmt.Sprintf("all %d tables, columns, indexes, sequences, types, views and routines are there", len(expectedObjects(x.folder)))), err
}

// differences compares the schema's objects with what the migrations make.
func (x *examiner) differences(ctx context.Context) ([]health.Finding, error) {
	there, err := engine.Query(ctx, x, doctorObjects{Schema: x.opts.Schema, Prefix: x.opts.Prefix})
	if err != nil {
		return nil, err
	}
	found := x.missing(expectedObjects(x.folder), there)
	texts, err := engine.Query(ctx, x, doctorChanged{Schema: x.opts.Schema, Prefix: x.opts.Prefix})
	if err != nil {
		return found, err
	}
	found = append(found, x.changed(texts)...)
	loose, err := engine.Query(ctx, x, doctorUnchecked{Schema: x.opts.Schema, Prefix: x.opts.Prefix})
	for _, c := range loose {
		state := "was not checked"
		if c.Disabled {
			state = "is disabled"
		}
		found = append(found, engine.NewFinding(health.Problem, fmt.Sprintf("constraint %s of table %s %s", c.Name, c.OfTable, state),
			fmt.Sprintf("ALTER TABLE %s WITH CHECK CHECK CONSTRAINT %s", x.folder.Names.Quote(c.OfTable[len(x.opts.Prefix):]), quoteName(c.Name))))
	}
	return found, err
}

const byHand = "The schema was changed by hand: restore it from a backup, or by its statement in pawl's migrations (sqlserver/internal/sqlserver/schema)."

// missing returns the objects that are missing or cannot be used; of a missing table, the
// table alone.
func (x *examiner) missing(want, there []object) (found []health.Finding) {
	known := map[string]bool{}
	for _, o := range there {
		known[o.Kind+" "+strings.ToLower(o.Name)] = o.Sound
	}
	indexes := indexStatements(x.folder)
	for _, o := range want {
		next := byHand
		if o.Kind == "index" {
			next = indexes[o.Name]
		}
		sound, exists := known[o.Kind+" "+strings.ToLower(o.Name)]
		table, index, part := strings.Cut(o.Name, ".")
		switch {
		case exists && !sound:
			found = append(found, engine.NewFinding(health.Problem, "disabled index: "+o.Name, fmt.Sprintf("ALTER INDEX %s ON %s REBUILD", quoteName(index), x.folder.Names.Quote(table[len(x.opts.Prefix):]))))
		case exists:
		case part:
			if _, exists := known["table "+strings.ToLower(table)]; exists {
				found = append(found, engine.NewFinding(health.Problem, "missing "+o.Kind+": "+o.Name, next))
			}
		default:
			found = append(found, engine.NewFinding(health.Problem, "missing "+o.Kind+": "+o.Name, byHand))
		}
	}
	return found
}

// changed returns the routines and views whose text differs.
func (x *examiner) changed(there []module) (found []health.Finding) {
	texts := map[string]string{}
	for _, o := range x.folder.Objects {
		texts[strings.ToLower(x.opts.Prefix+o.Name)] = x.folder.Names.Render(o.Text)
	}
	for _, m := range there {
		if want, ok := texts[strings.ToLower(m.Name)]; ok && squeezed(m.Definition) != squeezed(want) {
			found = append(found, engine.NewFinding(health.Problem, "changed routine or view: "+m.Name, byHand))
		}
	}
	return found
}

// squeezed returns a text with its white space normalized: a server or a tool may have
// changed it.
func squeezed(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(text), " "), "; ")
}

// quoteName quotes a name.
func quoteName(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// doctorTriggers lists the triggers on pawl's tables.
type doctorTriggers struct {
	engine.Rows[trigger]
	Schema, Prefix string
}

type trigger struct{ Name, OfTable string }

// triggers finds triggers on pawl's tables.
func (x *examiner) triggers(ctx context.Context) ([]health.Finding, error) {
	list, err := engine.Query(ctx, x, doctorTriggers{Schema: x.opts.Schema, Prefix: x.opts.Prefix})
	return engine.OrOK(x.checkTriggers(list), "no table of pawl's has a trigger"), err
}

// checkTriggers passes over the fences of a store that was moved: pawl has no other triggers.
func (x *examiner) checkTriggers(list []trigger) (found []health.Finding) {
	for _, t := range list {
		if x.isFence(t.Name, t.OfTable) {
			continue
		}
		found = append(found, engine.NewFinding(health.Warning, fmt.Sprintf("table %s has a trigger, %s: it runs in transactions of pawl's and of those that enqueue, and its errors are theirs", t.OfTable, t.Name),
			"Drop it, or make sure that it sets NOCOUNT ON and returns no result set."))
	}
	return found
}
