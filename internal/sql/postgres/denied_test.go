package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	ops "github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/outbox"
)

// denied are statements of each role that its rights do not cover.
var denied = map[engine.Role][]string{
	engine.RoleProducer: {
		"SELECT metadata FROM pawl.outbox_join",
		"SELECT grouping_key FROM pawl.outbox_join",
		"SELECT payload FROM pawl.outbox_message",
		"SELECT headers FROM pawl.outbox_message",
		"SELECT last_error FROM pawl.outbox_exception",
		"SELECT actor FROM pawl.audit_trail",
		"DELETE FROM pawl.outbox_ready",
		"UPDATE pawl.outbox_pause SET ending = true",
		"DO $$ BEGIN LOCK TABLE pawl.outbox_limit IN ROW SHARE MODE; END $$",
		"SELECT pawl.outbox_limits_share()",
	},
	engine.RoleWorker: {
		"UPDATE pawl.outbox_pause SET name = 'everything'",
		"DELETE FROM pawl.outbox_pause",
		"INSERT INTO pawl.outbox_pause (kind, name, lane, actor) VALUES ('topic', 't', 1, 'x')",
		"SELECT 1 FROM pawl.outbox_pause FOR UPDATE",
		"UPDATE pawl.outbox_limit SET concurrency = 1",
		"UPDATE pawl.outbox_limit SET rate = NULL",
		"UPDATE pawl.outbox_limit SET name = 'stolen'",
		"DELETE FROM pawl.outbox_limit",
		"INSERT INTO pawl.outbox_limit (kind, name, actor) VALUES ('topic', 't', 'x')",
		"DO $$ BEGIN LOCK TABLE pawl.outbox_limit IN EXCLUSIVE MODE; END $$",
		"INSERT INTO pawl.audit_trail (id, actor, action, target, n) VALUES (gen_random_uuid(), 'ann', 'discard', 't', 1)",
		"UPDATE pawl.outbox_message SET payload = ''",
		"SELECT pawl.act_pause('topic', 't', 1, NULL, NULL, NULL, NULL, NULL)",
		"SELECT pawl.act_resume('topic', 't', NULL, NULL, NULL, NULL)",
		"SELECT pawl.act_unlimit('topic', 'limited', NULL, NULL, NULL, NULL)",
		"SELECT pawl.limit_remove('topic', 'limited')",
	},
	engine.RoleOperator: {
		"UPDATE pawl.audit_trail SET n = 0",
		"DELETE FROM pawl.audit_trail",
		"INSERT INTO pawl.audit_trail (id, actor, action, target, n) VALUES (gen_random_uuid(), 'ann', 'discard', 't', 1)",
		"DELETE FROM pawl.outbox_message",
		"DELETE FROM pawl.outbox_claim",
		"DELETE FROM pawl.outbox_ready",
		"UPDATE pawl.outbox_ready SET at = now()",
		"SELECT pawl.outbox_cancel('{1}', '')",
		"SELECT pawl.outbox_reschedule('{1}', now())",
		"SELECT pawl.outbox_redrive_rows('{1}')",
		"SELECT pawl.outbox_discard('{1}')",
		"SELECT pawl.outbox_undiscard('{1}')",
		"UPDATE pawl.outbox_exception SET status = 4",
		"DELETE FROM pawl.outbox_order",
		"DELETE FROM pawl.outbox_pause",
		"INSERT INTO pawl.outbox_pause (kind, name, lane, actor) VALUES ('topic', 't', 1, 'ann')",
		"DELETE FROM pawl.outbox_limit",
		"UPDATE pawl.outbox_limit SET concurrency = 1",
		"DELETE FROM pawl.outbox_limit_claim",
		"SELECT pawl.limit_end('topic', 'limited')",
		"DELETE FROM pawl.job",
		"UPDATE pawl.job_run SET outcome = 1",
		"UPDATE pawl.lease SET owner = NULL",
		"SELECT pawl.lease_force('l')",
		"UPDATE pawl.inbox SET status = 'Seen'",
		"UPDATE pawl.outbox_join SET completed_steps = 1",
	},
	engine.RoleViewer: {
		"SELECT pawl.audit_note(gen_random_uuid(), 'ann', 'discard', 't', NULL, 1)",
		"SELECT pawl.pause_hold('{t}')",
		"SELECT pawl.outbox_unpark_runs('t', 10)",
		"SELECT pawl.outbox_limits_share()",
		"SELECT pawl.act_cancel('{1}', '', NULL, NULL, NULL, NULL)",
		"SELECT pawl.act_stop('{1}', '', NULL, NULL, NULL, NULL)", "SELECT pawl.act_erase('{1}', '', NULL, NULL, NULL, NULL)",
		"SELECT 1 FROM pawl.outbox_limit FOR KEY SHARE",
		"DO $$ BEGIN LOCK TABLE pawl.outbox_limit IN ROW SHARE MODE; END $$",
	},
}

// D-510: what docs/security.md says that a role may not do is refused in SQL, too.
func TestRolesMayNotDoMore(t *testing.T) {
	_, owner, people := grants(t, engine.RoleProducer, engine.RoleWorker, engine.RoleOperator, engine.RoleViewer)
	_, err := owner.Admin.Pause(t.Context(), ops.Topic, "t", "")
	enginetest.Must(t, err)
	_, err = owner.Admin.SetLimit(t.Context(), ops.Topic, "limited", outbox.Limit{Concurrency: 5}, "")
	enginetest.Must(t, err)
	for role, all := range denied {
		for _, query := range all {
			var refused *pgconn.PgError
			if err := people[role].exec(query); !errors.As(err, &refused) || refused.Code != "42501" {
				t.Errorf("%s: %s: %v", role, query, err)
			}
		}
	}
}

// D-511: nobody without a right on pawl's tables stops claims under limits or the clean-up: whatever
// advisory lock has a name that can be guessed, or shows itself while others work, is no use.
func TestStrangersLockNothing(t *testing.T) {
	p, owner, people := grants(t, engine.RoleWorker)
	ctx, w := t.Context(), people[engine.RoleWorker]
	_, err := owner.Admin.SetLimit(ctx, ops.Topic, "limited", outbox.Limit{Concurrency: 5}, "")
	enginetest.Must(t, err)
	_, address := role(t)
	stranger, err := pgx.Connect(ctx, address)
	enginetest.Must(t, err)
	defer stranger.Close(ctx)
	names := []string{"pawl.outbox_limits", "pawl.outbox_purge", "pawl.generation", "pawl.outbox_place", "pawl.inbox1/sm", "pawl.timer/k"}
	for _, name := range names {
		_, err := stranger.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0)), pg_advisory_lock(hashtextextended($2, 0))", name, p.Names.Render(name))
		enginetest.Must(t, err)
	}
	_, err = owner.Outbox.Enqueue(ctx, outbox.Message{Topic: "limited"})
	enginetest.Must(t, err)
	tx, err := w.db.Pool().Begin(ctx)
	enginetest.Must(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	var claimed, locks int
	enginetest.Must(t, tx.QueryRow(ctx, p.Names.Render("SELECT count(*) FROM pawl.outbox_claim(gen_random_uuid(), 30, 5)")).Scan(&claimed))
	enginetest.Must(t, tx.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'").Scan(&locks))
	if claimed != 1 || locks != 0 {
		t.Errorf("claimed %d messages under a limit, holding %d advisory locks that everybody sees", claimed, locks)
	}
	enginetest.Must(t, tx.Commit(ctx))
	owned := outbox.NewOwnerToken()
	enginetest.Must(t, done(owner.Outbox.Enqueue(ctx, outbox.Message{Topic: "t", Queue: "q"})))
	enginetest.Must(t, done(owner.Outbox.WorkQueue("q").Claim(ctx, owned, time.Hour, 1)))
	enginetest.Must(t, w.exec("SELECT pawl.outbox_ack($1, ARRAY(SELECT c.lo FROM pawl.outbox_claim c WHERE c.owner = $1))", owned))
	var purged int
	enginetest.Must(t, w.db.Pool().QueryRow(ctx, p.Names.Render("SELECT pawl.outbox_purge('0 s', 10)")).Scan(&purged))
	if purged != 1 {
		t.Errorf("deleted %d", purged)
	}
}

// D-511: who has locked a table of pawl's is named.
func TestDoctorNamesWhoLocksATable(t *testing.T) {
	p, owner, _ := grants(t)
	ctx := t.Context()
	tx, err := owner.db.Pool().Begin(ctx)
	enginetest.Must(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	var pid int
	enginetest.Must(t, tx.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid))
	_, err = tx.Exec(ctx, p.Names.Render("LOCK TABLE pawl.outbox_limit IN EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	want := fmt.Sprintf("process %d (", pid)
	for _, e := range owner.db.Examinations(engine.ExamineLimits{}) {
		if e.Name != "locks" {
			continue
		}
		found, err := e.Examine(ctx)
		enginetest.Must(t, err)
		if len(found) != 1 || !strings.HasPrefix(found[0].Summary, want) || !strings.Contains(found[0].Summary, "outbox_limit") {
			t.Errorf("%+v", found)
		}
		return
	}
	t.Error("locks are not examined")
}

// D-407: an entry of the trail has the session's own login beside the name that was given, and
// nobody changes one that is another's.
func TestEntriesHaveTheirLogin(t *testing.T) {
	_, owner, people := grants(t, engine.RoleWorker, engine.RoleOperator)
	ctx := t.Context()
	const note = "SELECT pawl.audit_note($1, 'ann', 'discard', 'topic t', 'approved', $2)"
	id := outbox.NewOwnerToken()
	enginetest.Must(t, people[engine.RoleOperator].exec(note, id, 3))
	enginetest.Must(t, people[engine.RoleOperator].exec(note, id, 4)) // the same action goes on
	enginetest.Must(t, people[engine.RoleWorker].exec(note, id, 1000))
	login := func(p *person) (name string) {
		enginetest.Must(t, p.db.Pool().QueryRow(ctx, "SELECT session_user").Scan(&name))
		return name
	}
	entries, err := engine.Collect(audit.List(ctx, owner.Internal(access.Key{}).DB, audit.Options{}), 100)
	enginetest.Must(t, err)
	got := map[string]int64{}
	for _, e := range entries {
		got[e.Login] += e.Count
	}
	if len(entries) != 2 || got[login(people[engine.RoleOperator])] != 7 || got[login(people[engine.RoleWorker])] != 1000 {
		t.Errorf("%+v", entries)
	}
	enginetest.Must(t, owner.exec("UPDATE pawl.audit_trail SET at = at - interval '2 hours'"))
	enginetest.Must(t, people[engine.RoleOperator].exec(note, id, 5))
	if entries, err = engine.Collect(audit.List(ctx, owner.Internal(access.Key{}).DB, audit.Options{}), 100); err != nil || len(entries) != 3 {
		t.Errorf("an old entry was changed: %+v, %v", entries, err)
	}
}

// D-512: what an operator's rights allow leaves a note with its login, also without an id, a name and a target.
func TestActsLeaveATrace(t *testing.T) {
	_, owner, people := grants(t, engine.RoleOperator)
	f, another := newScene(t, owner), newScene(t, owner)
	for i, act := range []string{
		fmt.Sprintf("act_cancel('{%d}', 'x', NULL, NULL, NULL, NULL)", f.at), fmt.Sprintf("act_stop('{%d}', 'x', NULL, NULL, NULL, NULL)", another.at), fmt.Sprintf("act_erase('{%d}', 'x', NULL, NULL, NULL, NULL)", f.at), fmt.Sprintf("act_redrive('{%d}', NULL, NULL, NULL, NULL)", f.failedAt),
		fmt.Sprintf("act_join_cancel('%s', NULL, NULL, NULL, NULL)", f.join), "act_job_remove('j', NULL, NULL, NULL, NULL)", "act_pause('topic', 't', 1, NULL, NULL, NULL, NULL, NULL)",
		"act_resume('topic', 't', NULL, NULL, NULL, NULL)", "act_limit('topic', 't', 1, NULL, '1 s', 1, NULL, NULL, NULL, NULL, NULL)", "act_unlimit('topic', 't', NULL, NULL, NULL, NULL)",
	} {
		o := people[engine.RoleOperator]
		before, err := engine.Collect(audit.List(t.Context(), o.Internal(access.Key{}).DB, audit.Options{}), 100)
		enginetest.Must(t, err)
		enginetest.Must(t, o.exec("SELECT pawl."+act))
		after, err := engine.Collect(audit.List(t.Context(), o.Internal(access.Key{}).DB, audit.Options{}), 100)
		enginetest.Must(t, err)
		if len(after) != len(before)+1 || after[0].Login == "" || after[0].Actor != after[0].Login || after[0].Count != 1 {
			t.Errorf("%d: %s: %d entries more; the last one is %+v", i, act, len(after)-len(before), after[0])
		}
	}
}
