package doctortest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/doctor"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/engine"
)

func databaseTests() map[string]func(*testing.T, dbtest.Engine) {
	return map[string]func(*testing.T, dbtest.Engine){
		"nothing is wrong": healthy, "closed": closed, "schema": schema, "a missing index": missingIndex, "a missing view": missingView, "clock": clock,
		"a hanging check hides nothing": hanging,
	}
}

// A sound database has a finding for every check, and none to complain about but
// that the tests' server does without fsync.
func healthy(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	// Other tests have connections to the server, too.
	findings := f.examine(doctor.Options{Timeout: time.Minute, Limits: engine.Limits{Connections: 1000}})
	for _, check := range []string{"connection", "schema", "clock", "writable", "objects", "claims", "schedule", "inbox", "leases", "places", "joins"} {
		WantGone(t, findings, check)
	}
	for _, found := range findings {
		if found.Level >= engine.Warning && found.Check != "durability" {
			t.Errorf("%+v", found)
		}
		if found.Level >= engine.Warning && found.NextStep == "" {
			t.Errorf("%s: no next step", found.Check)
		}
	}
}

// What cannot be reached is said once.
func closed(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	db := f.db.Another(t)
	f.check(db.Close())
	findings := doctor.Examine(f.ctx(), db, doctor.Options{})
	if len(findings) != 1 || findings[0].Check != "connection" {
		t.Errorf("%+v", findings)
	}
}

func schema(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.exec("UPDATE {pawl_schema} SET checksum = 'x' || checksum WHERE version = 1")
	Want(t, f.examine(), "schema", engine.Problem, "version 1", "Use the build")
	f.exec("UPDATE {pawl_schema} SET checksum = substr(checksum, 2) WHERE version = 1")
	WantGone(t, f.examine(), "schema")

	f.exec("INSERT INTO {pawl_schema} (version, name, checksum, lowest, applied_at) VALUES (2, 'x', 'x', 2, {0s})")
	Want(t, f.examine(), "schema", engine.Problem, "version 2", "Update this program")
	f.exec("UPDATE {pawl_schema} SET lowest = 1 WHERE version = 2")
	f.exec("UPDATE {pawl_object} SET checksum = 'x' || checksum WHERE kind = 'views' AND name = 'outbox_item'")
	Want(t, f.examine(), "schema", engine.Note, "version 2, of a newer program", "Update this program")
	f.exec("UPDATE {pawl_object} SET checksum = substr(checksum, 2) WHERE kind = 'views' AND name = 'outbox_item'")
	f.exec("DELETE FROM {pawl_schema} WHERE version = 2")
	WantGone(t, f.examine(), "schema")

	f.exec("UPDATE {pawl_object} SET checksum = 'x' || checksum WHERE kind = 'views' AND name = 'outbox_item'")
	Want(t, f.examine(), "schema", engine.Problem, "outbox_item", "pawl migrate")
	f.exec("UPDATE {pawl_object} SET checksum = substr(checksum, 2) WHERE kind = 'views' AND name = 'outbox_item'")
	WantGone(t, f.examine(), "schema")

	f.exec("CREATE TABLE {before} AS SELECT * FROM {pawl_schema}")
	f.exec("DELETE FROM {pawl_schema}")
	findings := f.examine()
	Want(t, findings, "schema", engine.Problem, "missing", "pawl migrate")
	f.exec("INSERT INTO {pawl_schema} (version, name, checksum, lowest, applied_at) SELECT version, name, checksum, lowest, applied_at FROM {before}")
	WantGone(t, f.examine(), "schema")
}

// The next step of a missing index makes it again.
func missingIndex(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	name := "outbox_exception_dead"
	if e.Name != "sqlite" {
		name = "outbox_exception_status_id_idx"
	}
	f.exec("DROP INDEX {" + name + "}")
	found := Want(t, f.examine(), "objects", engine.Problem, "missing index", "CREATE INDEX")
	f.exec(found.NextStep)
	WantGone(t, f.examine(), "objects")
}

// A missing view is said once, and a missing table hides no other check.
func missingView(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.exec("DROP VIEW {job_runs}")
	Want(t, f.examine(), "objects", engine.Problem, "job_runs", "")
	f.exec("DROP TABLE {lease_waiter}")
	findings := f.examine()
	var missing []string
	for _, found := range findings {
		if found.Check == "objects" {
			missing = append(missing, found.Evidence)
		}
	}
	if text := strings.Join(missing, "\n"); !strings.Contains(text, "table") || !strings.Contains(text, "lease_waiter") || len(missing) > 4 {
		t.Errorf("objects: %s", text)
	}
	f.exec("DROP TABLE {timer}" + map[bool]string{false: " CASCADE"}[e.Name == "sqlite"])
	findings = f.examine()
	Want(t, findings, "schedule", engine.Warning, "could not be checked", "objects")
	WantGone(t, findings, "joins")
}

// Half the round trip is allowed for; a second and more is worth a warning.
func clock(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for apart, way := range map[time.Duration]string{90 * time.Second: "behind", -90 * time.Second: "ahead"} {
		o := doctor.Options{Timeout: time.Minute, Now: func() time.Time { return time.Now().Add(apart) }}
		Want(t, f.examine(o), "clock", engine.Warning, way, "NTP")
	}
	WantGone(t, f.examine(), "clock")
}

// Who waits for a lock has to give up in time, and the others have their say.
func hanging(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tx := f.begin()
	_, err := tx.ExecContext(f.ctx(), f.render("UPDATE {outbox_lane} SET priority = priority"))
	f.check(err)
	check := "writable"
	if e.Name != "sqlite" {
		_, err = tx.ExecContext(f.ctx(), f.render("LOCK TABLE {inbox} IN ACCESS EXCLUSIVE MODE"))
		f.check(err)
		check = "inbox"
	}
	limit := 2 * time.Second
	findings := f.examine(doctor.Options{Timeout: limit})
	if slices.ContainsFunc(findings, func(found doctor.Finding) bool {
		return found.Level != engine.OK && slices.Contains([]string{"connection", "schema", "joins"}, found.Check)
	}) {
		limit = 15 * time.Second // a busy machine may need it
		findings = f.examine(doctor.Options{Timeout: limit})
	}
	Want(t, findings, check, engine.Warning, "within "+limit.String(), "")
	WantGone(t, findings, "schema")
	WantGone(t, findings, "joins")
	f.check(tx.Rollback())
	findings = f.examine()
	WantGone(t, findings, check)
}
