package target

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	_ "modernc.org/sqlite" // for tables of databases

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/sqlserver"
)

const (
	// FleetForms are the ways to name a fleet, for error messages.
	FleetForms = "dir:PATH[/PATTERN], list:FILE or table:URL"
	// FleetQuery is the query of a table whose own was not given.
	FleetQuery = "SELECT key, url FROM pawl_stores"
	// FleetPattern is the pattern of a directory without one.
	FleetPattern = "*.db"
)

// Fleet is a list of databases that was named. It is read again every time that
// it is asked for.
type Fleet struct {
	text  string
	names engine.Names
	list  fleet.Discovery
}

// ParseFleet understands what --fleet says. names are for the databases whose
// entry in the list has none; query is for tables alone. Errors hold no password.
func ParseFleet(where, query string, names engine.Names) (Fleet, error) {
	f := Fleet{text: where, names: names}
	if err := names.Validate(); err != nil {
		return f, err
	}
	form := dsn.Scheme(where)
	_, rest, found := strings.Cut(where, ":")
	if strings.TrimSpace(rest) == "" && found {
		return f, fmt.Errorf("fleet without a place: want %s", FleetForms)
	}
	if query != "" && form != "table" {
		return f, errors.New("a query goes with table:URL")
	}
	switch {
	case form == "":
		return f, fmt.Errorf("fleet without a form: want %s", FleetForms)
	case form == "dir":
		return f.dir(rest)
	case form == "list":
		f.list = list(rest)
		return f, nil
	case form == "table":
		return f.table(rest, query)
	}
	return f, fmt.Errorf("unknown form %q of a fleet: want %s", form, FleetForms)
}

// dir: what follows the last slash is a pattern if it can match several names.
func (f Fleet) dir(path string) (Fleet, error) {
	dir, pattern := filepath.Split(path)
	if !strings.ContainsAny(pattern, "*?[") {
		dir, pattern = path, FleetPattern
		f.text = strings.TrimSuffix(f.text, "/") + "/" + pattern
	}
	if dir == "" {
		dir = "."
	}
	if _, err := filepath.Match(pattern, ""); err != nil {
		return f, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	f.list = fleet.Directory(dir, pattern)
	return f, nil
}

func (f Fleet) table(db, query string) (Fleet, error) {
	t, err := Parse(db, engine.Names{})
	if err != nil {
		return f, err
	}
	if query == "" {
		query = FleetQuery
	}
	f.text = "table:" + t.String()
	f.list = fleet.DiscoveryFunc(func(ctx context.Context) ([]fleet.Database, error) { return t.rows(ctx, query) })
	return f, nil
}

// String names the fleet without a password.
func (f Fleet) String() string { return f.text }

// Discover reads the list.
func (f Fleet) Discover(ctx context.Context) ([]fleet.Database, error) {
	dbs, err := f.list.Discover(ctx)
	if err != nil {
		return nil, err
	}
	for i := range dbs {
		d := &dbs[i]
		if address, err := dsn.ADO(d.URL); err == nil { // a store with another is refused by itself
			d.URL = address
		}
		if d.Prefix == "" {
			d.Prefix = f.names.Prefix
		}
		if d.Schema == "" && !strings.HasPrefix(d.URL, "sqlite:") { // which has none
			d.Schema = f.names.Schema
		}
	}
	return dbs, nil
}

// list reads a file with a line for every database: KEY URL [SCHEMA [PREFIX]].
func list(path string) fleet.Discovery {
	return fleet.DiscoveryFunc(func(context.Context) ([]fleet.Database, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		var dbs []fleet.Database
		lines := bufio.NewScanner(file)
		for n := 1; lines.Scan(); n++ {
			switch fields, ok := words(lines.Text()); {
			case ok && len(fields) == 0:
			case !ok, len(fields) < 2, len(fields) > 4: // not shown: it may hold a password
				return nil, fmt.Errorf("%s: line %d: want KEY URL [SCHEMA [PREFIX]], what has blanks in single quotes", path, n)
			default:
				fields = append(fields, "", "")
				dbs = append(dbs, fleet.Database{Key: fields[0], URL: fields[1], Schema: fields[2], Prefix: fields[3]})
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return dbs, nil
	})
}

// word is one of a line: in single quotes, which are doubled inside, or up to a blank.
var word = regexp.MustCompile(`'((?:[^']|'')*)'(?:\s|$)|\S+`)

// words are a line's up to a comment. "-" stands for nothing, where only what
// follows is to be said. ok is false if a quote does not end, and for an ADO.NET
// string without quotes: a part of it, a password's perhaps, would be the schema.
func words(line string) (fields []string, ok bool) {
	for _, m := range word.FindAllStringSubmatch(line, -1) {
		text := strings.TrimSpace(m[0])
		switch quoted := strings.HasPrefix(text, "'"); {
		case quoted && m[1] == "", !quoted && len(fields) == 1 && dsn.Scheme(text) == "" && strings.Contains(text, ";"):
			return nil, false
		case quoted:
			text = strings.ReplaceAll(m[1], "''", "'")
		case strings.HasPrefix(text, "#"):
			return fields, true
		case text == "-":
			text = ""
		}
		fields = append(fields, text)
	}
	return fields, true
}

// rows reads a table of databases. The connection is not kept: the next look is
// minutes away.
func (t Target) rows(ctx context.Context, query string) ([]fleet.Database, error) {
	if !t.Exists() {
		return nil, ErrNoFile
	}
	if t.sqlserver != "" {
		db, err := sqlserver.Open(t.sqlserver)
		if err != nil {
			return nil, err
		}
		defer func() { _ = db.Close() }() // it was only read
		return fleet.Table(sqlserver.SQL(db), query).Discover(ctx)
	}
	if t.postgres == "" {
		return t.rowsOfFile(ctx, query)
	}
	db, err := postgres.Open(t.postgres)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // it was only read
	pool, closed := SQL(db)
	defer func() { _ = closed() }()
	return fleet.Table(pool, query).Discover(ctx)
}

// rowsOfFile goes without pawl's engine, which would turn on the write-ahead log of
// a file that is not pawl's.
func (t Target) rowsOfFile(ctx context.Context, query string) ([]fleet.Database, error) {
	path, also := t.path, "?"
	switch {
	case !strings.HasPrefix(path, "file:"):
		path = "file:" + (&url.URL{Path: path}).EscapedPath()
	case strings.Contains(path, "?"):
		also = "&"
	}
	pool, err := sql.Open("sqlite", path+also+"mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return fleet.Table(pool, query).Discover(ctx)
}

// Engine names the engine.
func (t Target) Engine() string {
	if t.postgres != "" {
		return "postgres"
	}
	if t.sqlserver != "" {
		return "sqlserver"
	}
	return "sqlite"
}

// Store is the database of a fleet's store, or says why it can be none.
func Store(d *fleet.Database) (Target, error) {
	if err := engine.CheckText("store key", d.Key, limits.StoreKey, true); err != nil {
		return Target{}, err
	}
	if err := d.Refused(access.Key{}); err != nil {
		return Target{}, err
	}
	return ParseURL(d.URL, engine.Names{Schema: d.Schema, Prefix: d.Prefix})
}

// Openers open the databases of a fleet. Without make a SQLite file that is
// missing is an error, and not a new and empty one.
func Openers(make bool) map[string]fleet.Opener {
	return map[string]fleet.Opener{
		"postgres":  postgres.OpenURL,
		"sqlserver": sqlserver.OpenURL,
		"sqlite": func(o engine.OpenOptions) (engine.DB, error) {
			t, err := ParseURL(o.URL, engine.Names{Schema: o.Schema, Prefix: o.Prefix})
			if err == nil && !make && !t.Exists() {
				err = ErrNoFile
			}
			if err != nil {
				return nil, err
			}
			return sqlite.OpenURL(o)
		},
	}
}

// ErrNoFile says that a SQLite database is not there.
var ErrNoFile = errors.New("no such file")
