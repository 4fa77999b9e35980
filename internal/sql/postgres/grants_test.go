package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl"
	ops "github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// person is a login role that was granted a role of pawl's.
type person struct {
	*pawl.Pawl
	db    *postgres.DB
	names engine.Names
	ctx   context.Context
}

// exec runs SQL as another program would.
func (p *person) exec(query string, args ...any) error {
	_, err := p.db.Pool().Exec(p.ctx, p.names.Render(query), args...)
	return err
}

// grants makes a place, and returns its owner's connection and a person of each role.
func grants(t *testing.T, roles ...engine.Role) (*enginetest.Place, *person, map[engine.Role]*person) {
	t.Helper()
	p := place()(t)
	db := enginetest.Migrated(t, p).(*postgres.DB)
	// Nobody relies on what everybody may.
	enginetest.Exec(t, p, `REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA "`+p.Names.Schema+`" FROM PUBLIC`)
	people := map[engine.Role]*person{}
	for _, r := range roles {
		name, address := role(t)
		enginetest.Must(t, db.Grant(t.Context(), engine.Grant{Role: r, To: name}))
		people[r] = newPerson(t, open(t, with(address, "pool_max_conns=3"), postgres.Options{Schema: p.Names.Schema, PollOnly: true}), p.Names)
	}
	return p, newPerson(t, db, p.Names), people
}

func newPerson(t *testing.T, db *postgres.DB, names engine.Names) *person {
	t.Helper()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	enginetest.Must(t, err)
	return &person{p, db, names, t.Context()}
}

// act is something that some roles may do, and the others may not.
type act struct {
	name string
	may  []engine.Role
	do   func(p *person, f *scene) error
}

// scene is the data to act upon: the owner creates it again for every act.
type scene struct {
	message, failed outbox.MessageID
	at, failedAt    outbox.Position
	join            join.ID
	timer           timer.ID
	key             inbox.Key
}

func newScene(t *testing.T, o *person) *scene {
	t.Helper()
	ctx := t.Context()
	f := &scene{key: inbox.Key{Source: "s", MessageID: outbox.NewOwnerToken().String()}}
	var err error
	f.failed, err = o.Outbox.Enqueue(ctx, outbox.Message{Topic: "t", Queue: "failed", Payload: []byte("secret")})
	enginetest.Must(t, err)
	owner := outbox.NewOwnerToken()
	claimed, err := o.Outbox.WorkQueue("failed").Claim(ctx, owner, time.Hour, 1)
	enginetest.Must(t, err)
	f.failedAt = claimed[0].Position
	_, err = o.Outbox.WorkQueue("").Fail(ctx, owner, errors.New("no"), f.failedAt)
	enginetest.Must(t, err)
	f.message, err = o.Outbox.Enqueue(ctx, outbox.Message{Topic: "t", Queue: "q", Payload: []byte("secret"), Due: time.Now().Add(time.Hour)})
	enginetest.Must(t, err)
	info, err := o.Outbox.Get(ctx, f.message)
	enginetest.Must(t, err)
	f.at = info.Position
	_, err = o.Admin.SetLimit(ctx, ops.EachTopic, "limited.*", outbox.Limit{Concurrency: 1000}, "")
	enginetest.Must(t, err)
	_, err = o.Outbox.Enqueue(ctx, outbox.Message{Topic: "limited." + owner.String(), Queue: "limited"})
	enginetest.Must(t, err)
	f.join, err = o.Joins.Start(ctx, join.Spec{ExpectedSteps: 2})
	enginetest.Must(t, err)
	f.timer, err = o.Timers.Schedule(ctx, timer.Timer{Topic: "t", Due: time.Now().Add(time.Hour)})
	enginetest.Must(t, err)
	enginetest.Must(t, o.Jobs.Put(ctx, job.Job{Name: "j", Topic: "t", Schedule: "@daily"}))
	_, err = o.Inbox.AlreadyProcessed(ctx, f.key)
	enginetest.Must(t, err)
	return f
}

func done[T any](_ T, err error) error { return err }

func producing() []act {
	all := []engine.Role{engine.RoleProducer, engine.RoleWorker}
	messages := append(slices.Clone(all), engine.RoleOperator) // who may trigger a job makes a message
	return []act{
		{"enqueue", messages, func(p *person, f *scene) error {
			return done(p.Outbox.EnqueueBatch(p.ctx, []outbox.Message{{Topic: "t", Payload: []byte("x")}, {Topic: "t", Queue: "new " + f.key.MessageID}}))
		}},
		{"enqueue with an id", messages, func(p *person, f *scene) error {
			_, err := p.Outbox.Enqueue(p.ctx, outbox.Message{Topic: "t", ID: outbox.MessageID(outbox.NewOwnerToken())})
			return errors.Join(err, done(p.Outbox.Enqueue(p.ctx, outbox.Message{Topic: "t", ID: f.message})))
		}},
		{"enqueue in a transaction", messages, func(p *person, f *scene) error {
			tx, err := p.db.Pool().Begin(p.ctx)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback(p.ctx) }()
			if _, err := p.Outbox.EnqueueTx(p.ctx, postgres.Tx(tx), outbox.Message{Topic: "t", Queue: "tx " + f.key.MessageID}); err != nil {
				return err
			}
			return tx.Commit(p.ctx)
		}},
		{"enqueue in SQL", messages, func(p *person, f *scene) error {
			return errors.Join(p.exec(`SELECT pawl.outbox_enqueue('t', 'x', headers => '{"a":"b"}', queue => 'sql')`), p.exec(`SELECT pawl.outbox_enqueue('t', '{}'::jsonb, message_id => $1)`, f.message.String()))
		}},
		{"fan out", all, func(p *person, f *scene) error {
			_, err := p.Joins.FanOut(p.ctx, join.Spec{Deadline: time.Now().Add(time.Hour)}, []outbox.Message{{Topic: "t"}}, join.Wait{OnComplete: outbox.Message{Topic: "done"}})
			return err
		}},
		{"attach and wait", messages, func(p *person, f *scene) error {
			return errors.Join(p.Joins.Attach(p.ctx, f.join, f.message, f.failed), done(p.Joins.Wait(p.ctx, f.join, join.Wait{OnComplete: outbox.Message{Topic: "done"}})))
		}},
		{"joins in SQL", all, func(p *person, f *scene) error {
			return errors.Join(p.exec(`SELECT pawl.outbox_join_attach(pawl.outbox_join_start(2, deadline_utc => now() + interval '1 hour'), $1)`, f.message.String()),
				p.exec(`SELECT pawl.outbox_join_wait($1, 'done')`, f.join.String()))
		}},
		{"schedule", all, func(p *person, f *scene) error {
			for range 2 {
				if _, err := p.Timers.Schedule(p.ctx, timer.Timer{Topic: "t", Key: "k", Due: time.Now().Add(time.Hour)}); err != nil {
					return err
				}
			}
			return errors.Join(done(p.Timers.CancelKey(p.ctx, "k")), p.exec(`SELECT pawl.timer_schedule('t', 'x', now() + interval '1 hour', key => 'k')`))
		}},
		{"cancel and move a timer", slices.Concat(all, []engine.Role{engine.RoleOperator}), func(p *person, f *scene) error {
			return errors.Join(done(p.Timers.Reschedule(p.ctx, f.timer, time.Now().Add(time.Hour))), done(p.Timers.Cancel(p.ctx, f.timer)),
				p.exec(`SELECT pawl.timer_reschedule($1, now()), pawl.timer_cancel($1)`, f.timer.String()))
		}},
		{"enqueue with a unique key", slices.Concat(all, []engine.Role{engine.RoleOperator}), func(p *person, f *scene) error {
			for _, u := range []outbox.UniqueOptions{{}, {Scope: outbox.WhileNotBegun}, {Debounce: true}, {Replace: true}, {Period: time.Hour}} {
				if _, err := p.Outbox.Enqueue(p.ctx, outbox.Message{Topic: "t", UniqueKey: "k", Unique: &u}); err != nil {
					return err
				}
			}
			return p.exec(`SELECT pawl.outbox_enqueue_unique('t', 'x', 'k', replace => true), pawl.outbox_enqueue_unique('t', '{}'::jsonb, 'k', debounce => true)`)
		}},
		{"see unique keys", []engine.Role{engine.RoleWorker, engine.RoleOperator, engine.RoleViewer}, func(p *person, f *scene) error { return p.exec(`SELECT * FROM pawl.outbox_unique`) }},
		{"enqueue into the inbox", all, func(p *person, f *scene) error {
			return done(p.Inbox.Enqueue(p.ctx, inbox.Message{Key: f.key, Topic: "t", Payload: []byte("x")}))
		}},
	}
}

func reading() []act {
	all := []engine.Role{engine.RoleWorker, engine.RoleOperator, engine.RoleViewer}
	trail := []engine.Role{engine.RoleOperator, engine.RoleViewer}
	return []act{
		{"check the schema", (&postgres.DB{}).Roles(), func(p *person, f *scene) error { return p.db.CheckSchema(p.ctx) }},
		{"read a payload", all, func(p *person, f *scene) error { return p.exec(`SELECT payload FROM pawl.outbox_message`) }},
		{"read headers", all, func(p *person, f *scene) error { return p.exec(`SELECT headers FROM pawl.outbox_message`) }},
		{"read the errors of the inbox", all, func(p *person, f *scene) error { return p.exec(`SELECT last_error FROM pawl.inbox`) }},
		{"read the payload of a timer", all, func(p *person, f *scene) error { return p.exec(`SELECT payload FROM pawl.timer`) }},
		{"read views", all, func(p *person, f *scene) error {
			return errors.Join(p.exec(`SELECT * FROM pawl.outbox`), p.exec(`SELECT * FROM pawl.timers`), p.exec(`SELECT * FROM pawl.jobs`), p.exec(`SELECT * FROM pawl.job_runs`))
		}},
		{"read a payload through a view", all, func(p *person, f *scene) error { return p.exec(`SELECT payload FROM pawl.outbox`) }},
		{"read a job's payload", all, func(p *person, f *scene) error { return p.exec(`SELECT payload FROM pawl.job`) }},
		{"list", all, func(p *person, f *scene) error {
			var errs []error
			for _, s := range []outbox.Status{outbox.Ready, outbox.InProgress, outbox.Done, outbox.Failed} {
				errs = append(errs, done(engine.Collect(p.Outbox.List(p.ctx, outbox.ListOptions{Status: s}), 100)))
			}
			errs = append(errs, done(p.Outbox.Get(p.ctx, f.message)), done(p.Outbox.Count(p.ctx)), done(p.Outbox.Operator(access.Key{}).CountFailed(p.ctx, outbox.FailedFilter{})),
				done(engine.Collect(p.Joins.Members(p.ctx, f.join, join.MembersOptions{}), 100)), done(p.Inbox.Get(p.ctx, f.key)), done(engine.Collect(p.Leases.List(p.ctx, lease.ListOptions{}), 100)), done(engine.Collect(p.Jobs.List(p.ctx, job.ListOptions{}), 100)))
			return errors.Join(errs...)
		}},
		{"see bulk acts", all, func(p *person, f *scene) error { return done(p.Outbox.Operator(access.Key{}).Bulks(p.ctx)) }},
		{"read the audit trail", trail, func(p *person, f *scene) error {
			return done(engine.Collect(audit.List(p.ctx, p.Internal(access.Key{}).DB, audit.Options{}), 100))
		}},
	}
}

func working() []act {
	all := []engine.Role{engine.RoleWorker}
	owner := outbox.NewOwnerToken()
	return []act{
		{"claim", all, func(p *person, f *scene) error {
			return done(p.Outbox.WorkQueue("").Claim(p.ctx, owner, time.Minute, 10))
		}},
		{"claim in SQL", all, func(p *person, f *scene) error {
			return p.exec(`SELECT * FROM pawl.outbox_claim(gen_random_uuid(), 30)`)
		}},
		{"claim under a limit for each topic", all, func(p *person, f *scene) error {
			return errors.Join(done(p.Outbox.WorkQueue("limited").Claim(p.ctx, owner, time.Minute, 10)), done(p.Internal(access.Key{}).Components[0].Cleanup.Once(p.ctx)))
		}},
		{"claim timers in SQL", all, func(p *person, f *scene) error {
			return p.exec(`SELECT * FROM pawl.timer_claim(gen_random_uuid(), 30)`)
		}},
		{"set a result in SQL", all, func(p *person, f *scene) error {
			return p.exec(`SELECT pawl.outbox_set_result(gen_random_uuid(), 1, 'x')`)
		}},
		{"ack in SQL", all, func(p *person, f *scene) error { return p.exec(`SELECT pawl.outbox_ack(gen_random_uuid(), '{1}')`) }},
		{"take out of a queue by hand", all, func(p *person, f *scene) error { return p.exec(`DELETE FROM pawl.outbox_ready WHERE false`) }},
		{"mark as done by hand", all, func(p *person, f *scene) error {
			return p.exec(`INSERT INTO pawl.outbox_done (lo, n, processed_at, owner) SELECT 1, 1, now(), gen_random_uuid() WHERE false`)
		}},
		{"delete messages", all, func(p *person, f *scene) error { return p.exec(`DELETE FROM pawl.outbox_message WHERE false`) }},
		{"change messages", nil, func(p *person, f *scene) error {
			return p.exec(`UPDATE pawl.outbox_message SET payload = '' WHERE false`)
		}},
		{"store a job", []engine.Role{engine.RoleWorker, engine.RoleOperator}, func(p *person, f *scene) error {
			return p.Jobs.Put(p.ctx, job.Job{Name: "mine", Topic: "t", Schedule: "@hourly"})
		}},
		{"lease", all, func(p *person, f *scene) error {
			l, err := p.Leases.Acquire(p.ctx, f.key.MessageID, lease.Options{})
			if err != nil {
				return err
			}
			return errors.Join(l.Renew(p.ctx), l.Close(p.ctx))
		}},
		{"wait in line for a lease", all, func(p *person, f *scene) error {
			return p.exec(`SELECT pawl.lease_enrol('l', gen_random_uuid(), '1 s')`)
		}},
		{"keep a failed attempt", all, func(p *person, f *scene) error {
			return p.exec(`SELECT pawl.outbox_attempted('{1}', '{1}', '{no}', 'w', 1)`)
		}},
		{"once", all, func(p *person, f *scene) error {
			return p.Inbox.Once(p.ctx, f.key, func(context.Context, outbox.Tx) error { return nil })
		}},
		{"clean up", all, func(p *person, f *scene) error { return p.Internal(access.Key{}).CleanUp(p.ctx) }},
	}
}

func operating() []act {
	all := []engine.Role{engine.RoleOperator}
	both := []engine.Role{engine.RoleOperator, engine.RoleWorker}
	return []act{
		{"pause and resume", all, func(p *person, f *scene) error {
			pauses := pause.New(p.db, nil)
			return errors.Join(done(pauses.Pause(p.ctx, pause.Topic, "t", "why")), done(pauses.Resume(p.ctx, pause.Topic, "t")), pauses.RefreshAndUnpark(p.ctx),
				done(pauses.Pause(p.ctx, pause.Queue, "q", "why")), done(pauses.Resume(p.ctx, pause.Queue, "q")))
		}},
		{"limit", all, func(p *person, f *scene) error {
			_, set := p.Admin.SetLimit(p.ctx, ops.Topic, "t", outbox.Limit{Concurrency: 1}, "why")
			_, gone := p.Admin.RemoveLimit(p.ctx, ops.Topic, "t")
			return errors.Join(set, gone)
		}},
		{"limit in SQL", all, func(p *person, f *scene) error {
			return errors.Join(p.exec(`SELECT pawl.limit_set('queue', 'q', 1, reason => 'why')`), p.exec(`SELECT pawl.limit_remove('queue', 'q')`))
		}},
		{"retry", both, func(p *person, f *scene) error {
			return done(p.Outbox.Redrive(p.ctx, outbox.FailedFilter{IDs: []outbox.Position{f.failedAt}}))
		}},
		{"discard", both, func(p *person, f *scene) error {
			return done(p.Outbox.Discard(p.ctx, outbox.FailedFilter{IDs: []outbox.Position{f.failedAt}}))
		}},
		{"start and stop a bulk act", all, func(p *person, f *scene) error {
			b, err := p.Outbox.Redrive(p.ctx, outbox.FailedFilter{IDs: []outbox.Position{f.failedAt}, Rate: 1})
			if err != nil {
				return err
			}
			_, err = p.Outbox.Operator(access.Key{}).StopBulk(p.ctx, b.ID)
			return errors.Join(err, done(p.Outbox.Discard(p.ctx, outbox.FailedFilter{IDs: []outbox.Position{f.failedAt}, Rate: 1})))
		}},
		{"start a bulk act by hand", all, func(p *person, f *scene) error {
			return p.exec(`INSERT INTO pawl.outbox_bulk (id, action, failed_before, rate, target, actor, total, created_at, at)
			  SELECT gen_random_uuid(), 'discard', now(), 0, '', '', 0, now(), now() WHERE false`)
		}},
		{"change what a bulk act selects", nil, func(p *person, f *scene) error { return p.exec(`UPDATE pawl.outbox_bulk SET topic = NULL WHERE false`) }},
		{"work off bulk acts", both, func(p *person, f *scene) error {
			return errors.Join(done(p.Internal(access.Key{}).Sources()[0].Dispatch(p.ctx)),
				p.exec(`SELECT pawl.outbox_bulk_step(gen_random_uuid(), 1, 1, NULL, '', '', NULL)`))
		}},
		{"cancel and move messages", both, func(p *person, f *scene) error {
			return errors.Join(done(p.Outbox.Reschedule(p.ctx, time.Now().Add(time.Hour), f.at)), done(p.Outbox.Cancel(p.ctx, "why", f.at)))
		}},
		{"jobs", both, func(p *person, f *scene) error {
			return errors.Join(p.Jobs.SetEnabled(p.ctx, "j", false), p.Jobs.SetEnabled(p.ctx, "j", true), done(p.Jobs.Trigger(p.ctx, "j")), p.Jobs.Delete(p.ctx, "j"))
		}},
		{"cancel a join", both, func(p *person, f *scene) error { return done(p.Joins.Cancel(p.ctx, f.join)) }},
		{"take a lease by force", both, func(p *person, f *scene) error { return done(p.Leases.ForceRelease(p.ctx, "l")) }},
		{"revive", both, func(p *person, f *scene) error { return done(p.Inbox.Revive(p.ctx, f.key)) }},
		{"change the audit trail", nil, func(p *person, f *scene) error { return p.exec(`UPDATE pawl.audit_trail SET n = 0 WHERE false`) }},
		{"shorten the audit trail", nil, func(p *person, f *scene) error { return p.exec(`DELETE FROM pawl.audit_trail WHERE false`) }},
		{"write the audit trail by hand", nil, func(p *person, f *scene) error {
			return p.exec(`INSERT INTO pawl.audit_trail (id, actor, action, target, n) SELECT gen_random_uuid(), '', '', '', 1 WHERE false`)
		}},
	}
}

func owning() []act {
	all := []engine.Role{engine.RoleMigrator}
	return []act{
		{"migrate", all, func(p *person, f *scene) error { return p.db.Migrate(p.ctx) }},
		{"change a table", all, func(p *person, f *scene) error { return p.exec(`ALTER TABLE pawl.inbox SET (fillfactor = 81)`) }},
		{"empty a table", all, func(p *person, f *scene) error { return p.exec(`TRUNCATE pawl.lease_waiter`) }},
		{"replace a routine", all, func(p *person, f *scene) error {
			return p.exec(`CREATE OR REPLACE FUNCTION pawl.check_blank(p_value text) RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT false'`)
		}},
		{"make a table", all, func(p *person, f *scene) error { return p.exec(`CREATE TABLE pawl.mine ()`) }},
	}
}

// OBX-123, OBX-124: each role may do what it is for, through the Go library and in
// SQL, and nothing else.
func TestRolesMayWhatTheyAreFor(t *testing.T) {
	_, owner, people := grants(t, engine.RoleProducer, engine.RoleWorker, engine.RoleOperator, engine.RoleViewer)
	for _, a := range slices.Concat(producing(), reading(), working(), operating(), owning()) {
		var f *scene
		for r, p := range people {
			may := slices.Contains(a.may, r)
			if may || f == nil { // what was refused changed nothing
				f = newScene(t, owner)
			}
			err := a.do(p, f)
			var refused *pgconn.PgError
			switch {
			case may && err != nil:
				t.Errorf("%s: %s: %v", r, a.name, err)
			case !may && !(errors.As(err, &refused) && refused.Code == "42501"):
				t.Errorf("%s: %s: %v, want it refused", r, a.name, err)
			}
		}
	}
	// A worker's run, from the claim to the clean-up.
	w := people[engine.RoleWorker]
	handled := 0
	w.Handle("run", func(context.Context, *outbox.Message) error {
		handled++
		return nil
	})
	_, err := people[engine.RoleProducer].Outbox.Enqueue(t.Context(), outbox.Message{Topic: "run", Queue: "default"})
	enginetest.Must(t, err)
	enginetest.Must(t, w.Run(t.Context()))
	if handled != 1 {
		t.Errorf("handled %d times, want once", handled)
	}
}

// D-102: a viewer reads every table, view and sequence there is.
func TestAViewerReadsEverything(t *testing.T) {
	p, _, people := grants(t, engine.RoleViewer)
	var user string
	enginetest.Must(t, people[engine.RoleViewer].db.Pool().QueryRow(t.Context(), `SELECT current_user`).Scan(&user))
	const hidden = `SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind IN ('r', 'v', 'S') AND c.relname NOT LIKE 'lease_waiter_%' AND NOT has_table_privilege($2, c.oid, 'SELECT')`
	if n := enginetest.Number(t, p, hidden, p.Names.Schema, user); n != 0 {
		t.Errorf("%d tables, views and sequences are hidden: add them to grants/viewer.sql, and to those of other roles that need them", n)
	}
}

// D-100: the migrator owns what it migrates, also what somebody else made before.
func TestTheMigratorOwnsTheSchema(t *testing.T) {
	_, owner, people := grants(t, engine.RoleMigrator, engine.RoleViewer)
	m := people[engine.RoleMigrator]
	for _, a := range slices.Concat(owning(), producing()) {
		if err := a.do(m, newScene(t, owner)); err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
	}
	enginetest.Must(t, people[engine.RoleViewer].exec(`SELECT * FROM pawl.outbox`)) // rights stay
	name, address := role(t)
	enginetest.Must(t, m.db.Grant(t.Context(), engine.Grant{Role: engine.RoleProducer, To: name}))
	p := newPerson(t, open(t, address, postgres.Options{Schema: m.names.Schema}), m.names)
	_, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"})
	enginetest.Must(t, err)
}

// D-101: a place with a prefix, in a schema that is shared, gives rights on what is
// pawl's and on nothing else.
func TestGrantsUnderOtherNames(t *testing.T) {
	name := schema(t)
	db := openMigrated(t, postgres.Options{Schema: name, Prefix: "p_"})
	_, err := db.Pool().Exec(t.Context(), `CREATE TABLE "`+name+`".theirs (); CREATE FUNCTION "`+name+`".theirs() RETURNS integer LANGUAGE sql AS 'SELECT 1'; REVOKE EXECUTE ON FUNCTION "`+name+`".theirs FROM PUBLIC`)
	enginetest.Must(t, err)
	for _, r := range (&postgres.DB{}).Roles() {
		user, address := role(t)
		for range 2 {
			enginetest.Must(t, db.Grant(t.Context(), engine.Grant{Role: r, To: user}))
		}
		p := newPerson(t, open(t, address, postgres.Options{Schema: name, Prefix: "p_"}), engine.Names{Schema: name, Prefix: "p_"})
		enginetest.Must(t, p.db.CheckSchema(t.Context()))
		for _, q := range []string{`SELECT * FROM "` + name + `".theirs`, `SELECT "` + name + `".theirs()`} {
			if _, err := p.db.Pool().Exec(t.Context(), q); err == nil {
				t.Errorf("%s: %s was allowed", r, q)
			}
		}
	}
}

func openMigrated(t *testing.T, o postgres.Options) *postgres.DB {
	t.Helper()
	db := open(t, testpg.URL(t), o)
	enginetest.Must(t, db.Migrate(t.Context()))
	return db
}

// D-2, D-114: what is no role, and no user, is refused; a name is a name, whatever
// is in it.
func TestGrantsRefuse(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p).(*postgres.DB)
	for _, g := range []engine.Grant{{}, {Role: "admin", To: "x"}, {Role: engine.RoleViewer}, {Role: engine.RoleViewer, To: " "}, {Role: engine.RoleViewer, To: "Public"}} {
		if err := db.Grant(t.Context(), g); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v, want it to be invalid", g, err)
		}
	}
	err := db.Grant(t.Context(), engine.Grant{Role: engine.RoleViewer, To: `x"; DROP SCHEMA "` + p.Names.Schema + `" CASCADE; --`})
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42704" {
		t.Errorf("a user of an odd name: %v, want that it does not exist", err)
	}
	enginetest.Must(t, db.CheckSchema(t.Context()))
	odd := fmt.Sprintf(`odd"%x`, enginetest.Token())[:30]
	quoted := pgx.Identifier{odd}.Sanitize()
	admin(t, `CREATE ROLE `+quoted)
	t.Cleanup(func() { admin(t, `DROP OWNED BY `+quoted, `DROP ROLE `+quoted) })
	enginetest.Must(t, db.Grant(t.Context(), engine.Grant{Role: engine.RoleViewer, To: odd}))
}

// D-114: what runs with its owner's rights is for those alone to whom it was given.
func TestDefinersAreNobodysByDefault(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	const open = `SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND p.prosecdef AND has_function_privilege('public', p.oid, 'EXECUTE')`
	if n := enginetest.Number(t, p, open, p.Names.Schema); n != 0 {
		t.Errorf("%d routines run with their owner's rights for everybody", n)
	}
	const all = `SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND p.prosecdef`
	if n := enginetest.Number(t, p, all, p.Names.Schema); n != 34 {
		t.Errorf("%d routines run with their owner's rights; say in docs/security.md why, and count them here", n)
	}
}
