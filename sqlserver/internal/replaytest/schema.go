package replaytest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// schema is what the server remembers of migrations: the two tables that the engine keeps
// its notes in. Everything else of a migration is not looked at.
type schema struct {
	mu      sync.Mutex
	tables  bool
	applied [][]any
	objects [][]any
}

var (
	createNotes  = regexp.MustCompile(`CREATE TABLE \S*pawl_schema`)
	insertSchema = regexp.MustCompile(`INSERT INTO \S*pawl_schema\S* \(version, name, checksum, lowest\) VALUES \((\d+), N'([^']*)', N'([^']*)', (\d+)\)`)
	insertObject = regexp.MustCompile(`INSERT INTO \S*pawl_object\S* \(kind, name, checksum\) VALUES \(N'([^']*)', N'([^']*)', N'([^']*)'\)`)
	deleteObject = regexp.MustCompile(`DELETE FROM \S*pawl_object\S* WHERE kind = N'([^']*)' AND name = N'([^']*)'`)
	readSchema   = regexp.MustCompile(`^SELECT version, name, checksum, lowest, applied_at FROM \S*pawl_schema`)
	readObjects  = regexp.MustCompile(`^SELECT kind, name, checksum FROM \S*pawl_object`)
)

// answer answers what is asked of the notes; ok is false for everything else.
func (s *schema) answer(r *tdstest.Request) (a tdstest.Answer, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case readSchema.MatchString(r.SQL):
		return s.read(s.applied, tdstest.Column{Name: "version", Type: tdstest.Int}, text("name"), text("checksum"),
			tdstest.Column{Name: "lowest", Type: tdstest.Int}, tdstest.Column{Name: "applied_at", Type: tdstest.DateTime2}), true
	case readObjects.MatchString(r.SQL):
		return s.read(s.objects, text("kind"), text("name"), text("checksum")), true
	case createNotes.MatchString(r.SQL):
		s.tables = true
		return tdstest.Answer{}, true
	}
	return tdstest.Answer{}, s.note(r.SQL)
}

func text(name string) tdstest.Column { return tdstest.Column{Name: name, Type: tdstest.NVarCharMax} }

func (s *schema) read(rows [][]any, columns ...tdstest.Column) tdstest.Answer {
	if !s.tables {
		return tdstest.Failed(208, "Invalid object name 'pawl.pawl_schema'.")
	}
	return tdstest.Answered(tdstest.Rows(columns, rows...))
}

// note changes the notes.
func (s *schema) note(sql string) (ok bool) {
	for _, m := range deleteObject.FindAllStringSubmatch(sql, -1) {
		s.objects = slices.DeleteFunc(s.objects, func(o []any) bool { return o[0] == m[1] && o[1] == m[2] })
		ok = true
	}
	for _, m := range insertObject.FindAllStringSubmatch(sql, -1) {
		s.objects = append(s.objects, []any{m[1], m[2], m[3]})
		ok = true
	}
	if m := insertSchema.FindStringSubmatch(sql); m != nil {
		version, _ := strconv.Atoi(m[1])
		lowest, _ := strconv.Atoi(m[4])
		s.applied = append(s.applied, []any{version, m[2], m[3], lowest, time.Now().UTC()})
		ok = true
	}
	return ok
}

// migration are beginnings of statements that only migrations have.
var migration = []string{"CREATE ", "ALTER TABLE ", "DROP INDEX ", "IF SCHEMA_ID(", "IF OBJECT_ID(", "SET LANGUAGE us_english; SET XACT_ABORT", "SET LOCK_TIMEOUT", "DECLARE @got int, @lock ", "--", "INSERT INTO "}

// own answers what is no operation.
func (s *Server) own(r *tdstest.Request) (tdstest.Answer, bool) {
	if a, ok := s.schema.answer(r); ok {
		return a, true
	}
	sql := strings.TrimSpace(r.SQL)
	switch {
	case sql == "select 1;": // the driver's ping of a connection that was idle
		return tdstest.Answer{}, true
	case strings.HasPrefix(sql, "SELECT d.is_read_committed_snapshot_on"):
		return tdstest.Answered(tdstest.Rows([]tdstest.Column{{Name: "on", Type: tdstest.Bit}}, []any{false})), true
	case strings.HasPrefix(sql, "EXEC ") && strings.Contains(sql, "outbox_next_block"):
		return s.nextBlock(), true
	case s.isLook(sql):
		return tdstest.Answered(tdstest.Rows(sightColumns, sight)), true
	}
	return tdstest.Answer{}, slices.ContainsFunc(migration, func(word string) bool { return strings.HasPrefix(sql, word) })
}

var sightColumns = []tdstest.Column{text("mark"), {Name: "number", Type: tdstest.BigInt}, {Name: "written", Type: tdstest.BigInt}}

// isLook reports whether a text is the look at the generation, alone.
func (s *Server) isLook(sql string) bool {
	return strings.Contains(sql, "generation_look") && !strings.Contains(sql, execute)
}

// nextBlock gives out a block of ids.
func (s *Server) nextBlock() tdstest.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block++
	columns := append([]tdstest.Column{{Name: "block", Type: tdstest.BigInt}}, sightColumns...)
	return tdstest.Answered(tdstest.Rows(columns, append([]any{s.block}, sight...)))
}
