package enginetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Next is a folder's migrations and one more with this text, as a newer build has.
func Next(f *engine.Folder, text string) []engine.Migration {
	n := len(f.Migrations)
	m, err := engine.ParseMigration(fmt.Sprintf("%04d_more.sql", n+1), text)
	if err != nil {
		panic(err) // the test's own text
	}
	return append(f.Migrations[:n:n], m)
}

// With is a folder's objects, of which one has this text, or is missing if that is
// empty.
func With(f *engine.Folder, kind, name, text string) []engine.Object {
	objects := slices.DeleteFunc(slices.Clone(f.Objects), func(o engine.Object) bool { return o.Kind == kind && o.Name == name })
	if text != "" {
		objects = append(objects, engine.Object{Kind: kind, Name: name, Text: text + ";", Checksum: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))})
	}
	return objects
}

// expansion is what a migration may do while older programs work: add columns that
// may be null, and tables.
const expansion = `ALTER TABLE pawl.outbox_message ADD COLUMN note TEXT; ALTER TABLE pawl.outbox_ready ADD COLUMN note TEXT; CREATE TABLE pawl.outbox_note (id bigint)`

// expansionOf is the expansion as a database's engine writes it.
func expansionOf(db engine.DB) string {
	if db.Engine() == "sqlserver" {
		return strings.ReplaceAll(expansion, "ADD COLUMN note TEXT", "ADD note nvarchar(max)")
	}
	return expansion
}

// makeNewer makes a handle one of a newer build.
func makeNewer(p *Place, db engine.DB) {
	p.AddMigration(db, expansionOf(db))
	p.SetObject(db, engine.Views, "more", "CREATE VIEW pawl.more AS SELECT id, note FROM pawl.outbox_message")
}

// D-115: programs of two schema versions share a database: through a rolling deploy,
// the restart of an old one, and a rollback of the program, nothing is lost.
func olderAndNewer(t *testing.T, p *Place) {
	l := &load{t: t, done: map[int64]bool{}, rounds: map[engine.DB]int{}}
	older := Migrated(t, p)
	stopOlder := l.run(older)
	l.work(older)

	newer := p.Open(t, Options{})
	makeNewer(p, newer)
	WantOld(t, newer)
	Must(t, newer.Migrate(t.Context()))
	stopNewer := l.run(newer)
	l.work(older, newer)

	stopOlder() // restarted
	restarted := p.Open(t, Options{})
	Must(t, restarted.CheckSchema(t.Context()))
	Must(t, restarted.Migrate(t.Context()))
	Must(t, newer.CheckSchema(t.Context())) // the older one put nothing back
	stopRestarted := l.run(restarted)
	l.work(newer, restarted)

	stopNewer() // rolled back
	stopRestarted()
	back := p.Open(t, Options{})
	Must(t, back.CheckSchema(t.Context()))
	stopBack := l.run(back)
	l.work(back)
	stopBack()
	l.drain(back)
	CheckPlaces(t, p)
}

// D-115: the database says which programs may use it, and refuses others.
func tooOld(t *testing.T, p *Place) {
	older := Migrated(t, p)
	newer := p.Open(t, Options{})
	p.AddMigration(newer, expansionOf(newer))
	p.AddMigration(newer, "CREATE TABLE pawl.outbox_last (id bigint)")
	Must(t, newer.Migrate(t.Context()))
	for what, err := range map[string]error{"check": older.CheckSchema(t.Context()), "migrate": older.Migrate(t.Context())} {
		if !errors.Is(err, engine.ErrSchemaNew) {
			t.Errorf("%s two versions behind: %v", what, err)
		}
	}
	Must(t, newer.CheckSchema(t.Context()))
}

// WantOld fails the test unless the schema is too old for a handle.
func WantOld(t testing.TB, db engine.DB) {
	t.Helper()
	if err := db.CheckSchema(context.Background()); !errors.Is(err, engine.ErrSchemaOld) {
		t.Errorf("want %q, got %v", engine.ErrSchemaOld, err)
	}
}

// load is messages on their way through several handles at once.
type load struct {
	t      *testing.T
	mu     sync.Mutex
	put    int
	done   map[int64]bool
	rounds map[engine.DB]int
}

// run works with a handle until stop is called.
func (l *load) run(db engine.DB) (stop func()) {
	ctx, cancel := context.WithCancel(l.t.Context())
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for ctx.Err() == nil {
				if err := l.round(db); err != nil {
					l.t.Error(err)
					return
				}
			}
		})
	}
	return func() { cancel(); workers.Wait() }
}

// round enqueues some messages, claims some and settles them.
func (l *load) round(db engine.DB) error {
	const n = 5
	ctx, owner := context.Background(), Token()
	lo, err := db.ReserveIDs(ctx, nil, n)
	if err != nil {
		return err
	}
	if err := db.Do(ctx, Enqueue(IDs(lo, n), []byte("payload"))); err != nil {
		return err
	}
	var got []Message
	if err := db.Do(ctx, Claim(owner, time.Minute, n, &got)); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rounds[db]++
	l.put += n
	for _, m := range got {
		ack := Ack(owner, Span{Lo: m.ID, N: 1})
		if err := db.Do(ctx, ack); err != nil || ack.N != 1 || l.done[m.ID] {
			return fmt.Errorf("message %d: acked %d, done before: %v, %w", m.ID, ack.N, l.done[m.ID], err)
		}
		l.done[m.ID] = true
	}
	return nil
}

// work waits until each of these handles has done something from now on.
func (l *load) work(handles ...engine.DB) {
	l.t.Helper()
	count := func(db engine.DB) int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.rounds[db]
	}
	for _, db := range handles {
		goal := count(db) + 20
		Until(l.t, "a program to work", func() bool { return count(db) >= goal || l.t.Failed() })
	}
}

// drain settles what is left, and compares.
func (l *load) drain(db engine.DB) {
	l.t.Helper()
	owner := Token()
	for ids := Take(l.t, db, owner, 100); len(ids) > 0; ids = Take(l.t, db, owner, 100) {
		for _, id := range ids {
			Do(l.t, db, Ack(owner, Span{Lo: id, N: 1}))
			if l.done[id] {
				l.t.Errorf("message %d was handled twice", id)
			}
			l.done[id] = true
		}
	}
	if len(l.done) != l.put || l.put == 0 {
		l.t.Errorf("%d messages were enqueued, %d handled", l.put, len(l.done))
	}
	if c := Count(l.t, db); c.Done != int64(l.put) {
		l.t.Errorf("%d messages were enqueued: %+v", l.put, c)
	}
}
