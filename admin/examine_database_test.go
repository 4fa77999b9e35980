package admin_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
)

// A sound database has a finding for every check, and none to complain about but
// that the tests' server does without fsync.
func TestExamineHealthy(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		// Other tests have connections to the server, too.
		findings := f.examine(engine.ExamineOptions{Timeout: time.Minute, Limits: engine.ExamineLimits{Connections: 1000}})
		for _, check := range []string{"connection", "schema", "clock", "writable", "objects", "claims", "schedule", "inbox", "leases", "places", "joins"} {
			wantOK(t, findings, check)
		}
		for _, found := range findings {
			if found.Level >= health.Warning && found.Code != "durability" {
				t.Errorf("%+v", found)
			}
			if found.Level >= health.Warning && found.NextStep == "" {
				t.Errorf("%s: no next step", found.Code)
			}
		}
	})
}

// What cannot be reached is said once.
func TestExamineUnreachable(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		db := f.db.Another(t)
		f.check(db.Close())
		findings := parts.NewAdmin(db).Examine(f.ctx()).Findings
		if len(findings) != 1 || findings[0].Code != "connection" {
			t.Errorf("%+v", findings)
		}
	})
}

func TestExamineSchema(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		f.exec("UPDATE {pawl_schema} SET checksum = 'x' || checksum WHERE version = 1")
		wantFinding(t, f.examine(), "schema", health.Problem, "version 1", "Use the build")
		f.exec("UPDATE {pawl_schema} SET checksum = substr(checksum, 2) WHERE version = 1")
		wantOK(t, f.examine(), "schema")

		f.exec("INSERT INTO {pawl_schema} (version, name, checksum, lowest, applied_at) SELECT MAX(version) + 1, 'x', 'x', MAX(version) + 1, {0s} FROM {pawl_schema}")
		var newer int
		f.db.Row(t, f.render("SELECT MAX(version) FROM {pawl_schema}"), &newer)
		wantFinding(t, f.examine(), "schema", health.Problem, fmt.Sprintf("version %d", newer), "Update this program")
		f.exec("UPDATE {pawl_schema} SET lowest = 1 WHERE version = " + strconv.Itoa(newer))
		f.exec("UPDATE {pawl_object} SET checksum = 'x' || checksum WHERE kind = 'views' AND name = 'outbox_item'")
		wantFinding(t, f.examine(), "schema", health.Note, fmt.Sprintf("version %d, of a newer program", newer), "Update this program")
		f.exec("UPDATE {pawl_object} SET checksum = substr(checksum, 2) WHERE kind = 'views' AND name = 'outbox_item'")
		f.exec("DELETE FROM {pawl_schema} WHERE version = " + strconv.Itoa(newer))
		wantOK(t, f.examine(), "schema")

		f.exec("UPDATE {pawl_object} SET checksum = 'x' || checksum WHERE kind = 'views' AND name = 'outbox_item'")
		wantFinding(t, f.examine(), "schema", health.Problem, "outbox_item", "pawl migrate")
		f.exec("UPDATE {pawl_object} SET checksum = substr(checksum, 2) WHERE kind = 'views' AND name = 'outbox_item'")
		wantOK(t, f.examine(), "schema")

		f.exec("CREATE TABLE {before} AS SELECT * FROM {pawl_schema}")
		f.exec("DELETE FROM {pawl_schema}")
		findings := f.examine()
		wantFinding(t, findings, "schema", health.Problem, "missing", "pawl migrate")
		f.exec("INSERT INTO {pawl_schema} (version, name, checksum, lowest, applied_at) SELECT version, name, checksum, lowest, applied_at FROM {before}")
		wantOK(t, f.examine(), "schema")
	})
}

// The next step of a missing index makes it again.
func TestExamineMissingIndex(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		name := map[string]string{"sqlite": "{outbox_exception_dead}", "postgres": "{outbox_exception_status_id_idx}", "sqlserver": "status ON {outbox_exception}"}[e.Name]
		f.exec("DROP INDEX " + name)
		found := wantFinding(t, f.examine(), "objects", health.Problem, "missing index", "CREATE INDEX")
		f.exec(found.NextStep)
		wantOK(t, f.examine(), "objects")
	})
}

// A missing view is said once, and a missing table hides no other check.
func TestExamineMissingView(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		f.exec("DROP VIEW {job_runs}")
		wantFinding(t, f.examine(), "objects", health.Problem, "job_runs", "")
		f.exec("DROP TABLE {lease_waiter}")
		findings := f.examine()
		var missing []string
		for _, found := range findings {
			if found.Code == "objects" {
				missing = append(missing, found.Summary)
			}
		}
		if text := strings.Join(missing, "\n"); !strings.Contains(text, "table") || !strings.Contains(text, "lease_waiter") || len(missing) > 4 {
			t.Errorf("objects: %s", text)
		}
		if e.Name == "sqlserver" {
			f.exec("DROP VIEW {timers}") // nothing there cascades
		}
		f.exec("DROP TABLE {timer}" + map[bool]string{true: " CASCADE"}[e.Name == "postgres"])
		findings = f.examine()
		wantFinding(t, findings, "schedule", health.Warning, "could not be checked", "objects")
		wantOK(t, findings, "joins")
	})
}

// Half the round trip is allowed for; a second and more is worth a warning.
func TestExamineClock(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		for apart, way := range map[time.Duration]string{90 * time.Second: "behind", -90 * time.Second: "ahead"} {
			a := f.admin()
			a.SetNow(func() time.Time { return time.Now().Add(apart) })
			wantFinding(t, a.ExamineWith(f.ctx(), access.Key{}, engine.ExamineOptions{Timeout: time.Minute}).Findings, "clock", health.Warning, way, "NTP")
		}
		wantOK(t, f.examine(), "clock")
	})
}

// A check that waits for a lock gives up in time, and the other checks are made.
func TestExamineHangingCheck(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		tx := f.begin()
		_, err := tx.ExecContext(f.ctx(), f.render("UPDATE {outbox_lane} SET priority = priority"))
		f.check(err)
		check := "writable"
		if e.Name != "sqlite" {
			lock := map[string]string{"postgres": "LOCK TABLE {inbox} IN ACCESS EXCLUSIVE MODE", "sqlserver": "TRUNCATE TABLE {inbox}"}[e.Name]
			_, err = tx.ExecContext(f.ctx(), f.render(lock))
			f.check(err)
			check = "inbox"
		}
		limit := 2 * time.Second
		findings := f.examine(engine.ExamineOptions{Timeout: limit})
		if slices.ContainsFunc(findings, func(found health.Finding) bool {
			return found.Level != health.OK && slices.Contains([]string{"connection", "schema", "joins"}, found.Code)
		}) {
			limit = 15 * time.Second // a busy machine may need it
			findings = f.examine(engine.ExamineOptions{Timeout: limit})
		}
		wantFinding(t, findings, check, health.Warning, "within "+limit.String(), "")
		wantOK(t, findings, "schema")
		wantOK(t, findings, "joins")
		f.check(tx.Rollback())
		findings = f.examine()
		wantOK(t, findings, check)
	})
}
