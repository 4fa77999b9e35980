package anydriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

var _ engine.Examiner = (*DB)(nil)

// Examinations returns what can be looked at on SQLite.
func (db *DB) Examinations(l engine.ExamineLimits) []engine.Examination {
	x := &examiner{db, engine.WithDefaults(l)}
	return []engine.Examination{
		{Name: "objects", Examine: x.objects},
		{Name: "durability", Examine: x.durability},
		{Name: "log", Examine: x.log},
		{Name: "file", Examine: x.place},
		{Name: "pages", Examine: x.pages},
	}
}

type examiner struct {
	*DB
	limits engine.ExamineLimits
}

// once runs a statement without keeping it prepared: some pragmas return the value of the
// time when they were prepared.
func (s *session) once(query string, each func(engine.Row) error) error {
	err := s.query(query, nil, each)
	if st, ok := s.stmts[query]; ok {
		delete(s.stmts, query)
		err = errors.Join(err, st.Close())
	}
	return err
}

// pragma reads a pragma on a reading connection.
func (x *examiner) pragma(ctx context.Context, name string, dest ...any) error {
	return wrap("doctor/"+name, x.reading(ctx, func(s *session) error {
		return s.once("PRAGMA "+name, func(r engine.Row) error { return r.Scan(dest...) })
	}))
}

// synchronous reads the setting of the writing connection, the one that matters.
func (x *examiner) synchronous(ctx context.Context) (v int, err error) {
	if err := x.CheckOutside(ctx, "doctor/synchronous", ""); err != nil {
		return 0, err
	}
	if err := acquire(ctx, x.lock); err != nil {
		return 0, wrap("doctor/synchronous", err)
	}
	defer func() { <-x.lock }()
	err = x.writer.use(ctx, func(s *session) error {
		s.ctx = ctx
		return s.once("PRAGMA synchronous", func(r engine.Row) error { return r.Scan(&v) })
	})
	return v, wrap("doctor/synchronous", err)
}

// durability looks at the settings by which a crash can take back commits.
func (x *examiner) durability(ctx context.Context) (found []health.Finding, err error) {
	var journal string
	if err := x.pragma(ctx, "journal_mode", &journal); err != nil {
		return nil, err
	}
	switch journal {
	case "wal":
	case "off", "memory":
		found = append(found, engine.NewFinding(health.Problem, "journal_mode = "+journal+": a crash can destroy the file", "PRAGMA journal_mode = WAL"))
	default:
		found = append(found, engine.NewFinding(health.Warning, "journal_mode = "+journal+": readers and the writer wait for each other", "PRAGMA journal_mode = WAL"))
	}
	sync, err := x.synchronous(ctx)
	switch sync {
	case 0:
		found = append(found, engine.NewFinding(health.Problem, "synchronous = OFF: a power failure can destroy the file", "Open the database with synchronous = FULL, which sqlite.Open does."))
	case 1:
		level := health.Warning
		if x.opts.Relaxed {
			level = health.Note
		}
		found = append(found, engine.NewFinding(level, "synchronous = NORMAL: a power failure takes back the last commits", "Leave out Options.Relaxed, or set synchronous = FULL, if that must not be."))
	}
	if err != nil {
		return found, err
	}
	return engine.OrOK(found, fmt.Sprintf("journal_mode = %s, synchronous = %s", journal, [...]string{"OFF", "NORMAL", "FULL", "EXTRA"}[min(max(sync, 0), 3)])), nil
}

// log looks whether the write-ahead log can be brought into the file. What a reader
// still needs has to stay, and the log grows behind it.
func (x *examiner) log(ctx context.Context) ([]health.Finding, error) {
	var busy, pages, moved int64
	if err := x.pragma(ctx, "wal_checkpoint(PASSIVE)", &busy, &pages, &moved); err != nil {
		if errors.Is(err, engine.ErrReadOnly) {
			return nil, nil // another check reports it
		}
		return nil, err
	}
	seen := fmt.Sprintf("%d of the log's %d pages are in the file", max(moved, 0), max(pages, 0))
	if left := pages - moved; left >= x.limits.LogPages {
		evidence := fmt.Sprintf("%s, and %d must stay", seen, left)
		if holders := x.readers(ctx); holders != "" {
			evidence += "; readers: " + holders
		}
		return []health.Finding{engine.NewFinding(health.Warning, evidence, "A reader's transaction has been open for long, and the log grows behind it: find the program that forgot to end it. Then: PRAGMA wal_checkpoint(TRUNCATE)")}, nil
	}
	return []health.Finding{engine.NewFinding(health.OK, seen, "")}, nil
}

// path returns the file's path, as SQLite knows it.
func (x *examiner) path(ctx context.Context) (path string, err error) {
	err = wrap("doctor/database_list", x.reading(ctx, func(s *session) error {
		return s.once("SELECT file FROM pragma_database_list WHERE name = 'main'", func(r engine.Row) error { return r.Scan(&path) })
	}))
	return path, err
}

// place looks at the file, its directory and its disk.
func (x *examiner) place(ctx context.Context) ([]health.Finding, error) {
	path, err := x.path(ctx)
	if err != nil {
		return nil, err
	}
	found, err := x.refusals(ctx, path)
	found = append(x.checkDisk(path), found...)
	if err != nil {
		return found, err
	}
	var pages, free int64
	for name, v := range map[string]*int64{"page_count": &pages, "freelist_count": &free} {
		if err := x.pragma(ctx, name, v); err != nil {
			return found, err
		}
	}
	if free >= x.limits.FreePages && free*2 > pages {
		found = append(found, engine.NewFinding(health.Note, fmt.Sprintf("%d of the file's %d pages are empty", free, pages), "They are used again. To give them back, while nobody works: VACUUM"))
	}
	return engine.OrOK(found, fmt.Sprintf("%s, %d pages, %d of them empty", path, pages, free)), nil
}

// CheckWrites returns a problem for each reason why this process's connections cannot write, but for a
// disk that is full.
func (db *DB) CheckWrites(ctx context.Context) ([]health.Finding, error) {
	x := &examiner{DB: db}
	path, err := x.path(ctx)
	if err != nil {
		return nil, err
	}
	return x.refusals(ctx, path)
}

// refusals are the problems of CheckWrites, of the file at a path.
func (x *examiner) refusals(ctx context.Context, path string) (found []health.Finding, err error) {
	if f := checkWritable(path); f != nil {
		found = append(found, *f)
	}
	var queryOnly int64
	if err := x.pragma(ctx, "query_only", &queryOnly); err != nil {
		return found, err
	}
	if queryOnly != 0 {
		found = append(found, engine.NewFinding(health.Problem, "query_only = 1: pawl's connections may not write", "Open the database without that pragma."))
	}
	return found, nil
}

// checkDisk examines the disk that the file is on.
func (x *examiner) checkDisk(path string) (found []health.Finding) {
	d, err := diskOf(path)
	if err != nil {
		return []health.Finding{engine.NewFinding(health.Note, "the disk does not say how full it is: "+err.Error(), "")}
	}
	if d.network != "" {
		found = append(found, engine.NewFinding(health.Problem, path+" lies on a network file system ("+d.network+"), whose locks SQLite cannot rely on", "Move the file to a local disk, or use PostgreSQL."))
	}
	if d.free < x.limits.DiskFree {
		level := health.Warning
		if d.free < x.limits.DiskFree/muchLess {
			level = health.Problem
		}
		found = append(found, engine.NewFinding(level, fmt.Sprintf("the disk of %s has %d MB left", path, d.free>>20), "Make room: without it nothing is committed any more."))
	}
	return found
}

// muchLess is the divisor of Limits.DiskFree below which little space is a problem.
const muchLess = 8

// checkWritable returns a finding if the file or its directory may not be written to: the log lies
// beside the file.
func checkWritable(path string) *health.Finding {
	for _, name := range []string{path, path + "-wal", path + "-shm", filepath.Dir(path)} {
		err := writable(name)
		if err == nil || os.IsNotExist(err) {
			continue
		}
		f := engine.NewFinding(health.Problem, fmt.Sprintf("%s cannot be written to: %v", name, err), "Give this user the right to write the file, its -wal and -shm, and its directory.")
		return &f
	}
	return nil
}

// disk is the disk of a file. network is the name of its network file system, if it is one.
type disk struct {
	free    int64
	network string
}

// objects compares what there is with what the migrations make of a new database,
// statement by statement. A schema that is not of this build is another check's matter.
func (x *examiner) objects(ctx context.Context) ([]health.Finding, error) {
	if !x.current(ctx) {
		return nil, nil
	}
	found, n, err := x.differences(ctx)
	return engine.OrOK(found, fmt.Sprintf("all %d tables, indexes and views are there", n)), err
}

// differences are what the migrations make, n things, and is not there, or not as they
// make it.
func (x *examiner) differences(ctx context.Context) (found []health.Finding, n int, err error) {
	want, err := x.expected(ctx)
	if err != nil {
		return nil, 0, err
	}
	there := map[object]string{}
	all, err := engine.Query(ctx, x, doctorObjects{})
	if err != nil {
		return nil, 0, err
	}
	for _, o := range all {
		there[o.object] = o.SQL
	}
	for _, o := range want {
		if text, ok := there[o.object]; !ok {
			found = append(found, engine.NewFinding(health.Problem, "missing "+o.Kind+" "+o.Name, o.SQL))
		} else if text != o.SQL {
			found = append(found, engine.NewFinding(health.Problem, o.Kind+" "+o.Name+" is not as pawl made it",
				"Somebody changed the schema by hand. It was: "+strings.Join(strings.Fields(o.SQL), " ")))
		}
	}
	return found, len(want), nil
}

// current reports whether the schema is of this build, and not of a newer one.
func (x *examiner) current(ctx context.Context) bool {
	status, err := x.SchemaStatus(ctx)
	return err == nil && status.Err == nil && !status.Newer
}

// doctorObjects lists the objects in the file.
type doctorObjects struct{ engine.Rows[madeObject] }

type object struct{ Kind, Name string }

type madeObject struct {
	object
	SQL string // the statement that created it
}

// expected returns the objects that the migrations make, in a temporary database in memory.
func (x *examiner) expected(ctx context.Context) (list []madeObject, err error) {
	pool := sql.OpenDB(source{x.sql.Driver(), ":memory:"})
	defer pool.Close()
	pool.SetMaxOpenConns(1) // another connection would be another database
	for _, m := range x.folder.Migrations {
		if _, err := pool.ExecContext(ctx, x.folder.Names.Render(m.Text)); err != nil {
			return nil, err
		}
	}
	for _, o := range x.folder.Objects {
		if _, err := pool.ExecContext(ctx, x.folder.Names.Render(o.Text)); err != nil {
			return nil, err
		}
	}
	rows, err := pool.QueryContext(ctx, x.folder.Statement(doctorObjects{}).Text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o madeObject
		if err := rows.Scan(&o.Kind, &o.Name, &o.SQL); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b madeObject) int { return strings.Compare(a.Kind+" "+a.Name, b.Kind+" "+b.Name) })
	return list, rows.Err()
}
