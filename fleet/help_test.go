package fleet_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func engines() map[string]fleet.Opener {
	return map[string]fleet.Opener{"postgres": postgres.OpenURL, "sqlite": sqlite.OpenURL}
}

// list is a discovery that a test changes.
type list struct {
	mu    sync.Mutex
	dbs   []fleet.Database
	err   error
	calls int
	hang  bool
}

func listOf(dbs ...fleet.Database) *list { return &list{dbs: dbs} }

func (l *list) Discover(ctx context.Context) ([]fleet.Database, error) {
	l.mu.Lock()
	l.calls++
	dbs, err, hang := slices.Clone(l.dbs), l.err, l.hang
	l.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return dbs, err
}

func (l *list) set(dbs ...fleet.Database) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dbs, l.err = dbs, nil
}

func (l *list) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *list) hangs(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hang = on
}

func (l *list) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// blank is a file that nobody has migrated.
func blank(t testing.TB, key string) fleet.Database {
	return fleet.Database{Key: key, URL: "sqlite:" + filepath.Join(t.TempDir(), "store.db")}
}

func pathOf(d fleet.Database) string { return d.URL[len("sqlite:"):] }

// file is a migrated store.
func file(t testing.TB, key string) fleet.Database {
	t.Helper()
	d := blank(t, key)
	migrateFile(t, pathOf(d))
	return d
}

func migrateFile(t testing.TB, path string) {
	t.Helper()
	db, err := sqlite.Open(path, sqlite.Options{Relaxed: true})
	must(t, err)
	dbtest.Migrate(t, db)
	must(t, db.Close())
}

func files(t testing.TB, keys ...string) []fleet.Database {
	t.Helper()
	dbs := []fleet.Database{file(t, keys[0])}
	empty, err := os.ReadFile(pathOf(dbs[0])) // migrations take longer than the tests
	must(t, err)
	for _, key := range keys[1:] {
		d := blank(t, key)
		must(t, os.WriteFile(pathOf(d), empty, 0o600))
		dbs = append(dbs, d)
	}
	return dbs
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// quick are options for tests: looks come soon, and little is said.
func quick() fleet.Options {
	return fleet.Options{Engines: engines(), PollMin: 2 * time.Millisecond, PollFiles: 20 * time.Millisecond, Pawl: pawl.Options{Logger: slog.New(slog.DiscardHandler)}}
}

// open is a fleet that is closed with the test.
func open(t testing.TB, d fleet.Discovery, o fleet.Options) *fleet.Fleet {
	t.Helper()
	f, err := fleet.New(d, o)
	must(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// start runs a fleet until stop or the end of the test.
func start(t testing.TB, f *fleet.Fleet) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// drain runs a fleet that stops when it is empty.
func drain(t testing.TB, f *fleet.Fleet) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	must(t, f.Run(ctx))
	must(t, ctx.Err())
}

// outboxOf returns a store's outbox.
func outboxOf(f *fleet.Fleet, key string) (*outbox.Outbox, error) {
	p, err := f.Pawl(context.Background(), key)
	if err != nil {
		return nil, err
	}
	return p.Outbox, nil
}

func box(t testing.TB, f *fleet.Fleet, key string) *outbox.Outbox {
	t.Helper()
	o, err := outboxOf(f, key)
	must(t, err)
	return o
}

// enqueue stores n messages of topic "t" that carry their store's key.
func enqueue(t testing.TB, f *fleet.Fleet, key string, n int) {
	t.Helper()
	enqueueIn(t, box(t, f, key), key, n)
}

func enqueueIn(t testing.TB, o *outbox.Outbox, key string, n int) {
	t.Helper()
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "t", Payload: fmt.Appendf(nil, "%s/%d", key, i)}
	}
	_, err := o.EnqueueBatch(t.Context(), msgs)
	must(t, err)
}

// another opens a file as another process would.
func another(t testing.TB, d fleet.Database) *outbox.Outbox {
	t.Helper()
	return parts.NewOutbox(dbtest.SQLiteAt(t, pathOf(d), sqlite.Options{Relaxed: true}), worker.Options{}).Outbox
}

// record notes what was handled where.
type record struct {
	mu     sync.Mutex
	order  []string // keys of stores
	count  map[string]int
	bodies map[string]int // by payload
}

func newRecord() *record { return &record{count: map[string]int{}, bodies: map[string]int{}} }

func (r *record) Handle(ctx context.Context, m *outbox.Message) error {
	key := fleet.StoreOf(ctx).Key
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = append(r.order, key)
	r.count[key]++
	r.bodies[string(m.Payload)]++
	return nil
}

func (r *record) of(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count[key]
}

func (r *record) counts() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.count)
}

// until waits until a store has handled n messages.
func (r *record) until(t testing.TB, key string, n int) {
	t.Helper()
	dbtest.Until(t, fmt.Sprintf("%d messages of %q are handled", n, key), func() bool { return r.of(key) >= n })
}

// once checks that nothing was handled twice.
func (r *record) once(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for body, n := range r.bodies {
		if n != 1 {
			t.Errorf("%s was handled %d times", body, n)
		}
	}
}

func state(f *fleet.Fleet, key string) fleetstate.Store {
	for _, s := range f.Operator(access.Key{}).State().Stores {
		if s.Key == key {
			return s
		}
	}
	return fleetstate.Store{}
}

func untilState(t testing.TB, f *fleet.Fleet, want fleetstate.State, keys ...string) {
	t.Helper()
	for _, key := range keys {
		dbtest.Until(t, fmt.Sprintf("%q is %s", key, want), func() bool { return state(f, key).State == want })
	}
}

// logs collects what is logged.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
