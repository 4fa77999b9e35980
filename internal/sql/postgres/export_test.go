package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// SetObject makes db one of another build, whose routine or view has this text, or
// which has none if the text is empty.
func SetObject(db *DB, kind, name, text string) {
	db.folder.Objects = enginetest.With(db.folder, kind, name, text)
}

// AddMigration makes db one of a newer build.
func AddMigration(db *DB, text string) {
	db.folder.Migrations = enginetest.Next(db.folder, text)
}

// Objects is what there is in a database's schema, as the doctor sees it.
func Objects(ctx context.Context, db *DB) (lines []string, err error) {
	list, err := engine.Query(ctx, db, doctorObjects{Schema: db.opts.Schema, Prefix: db.opts.Prefix})
	for _, o := range list {
		if !o.Sound {
			err = errors.Join(err, errors.New("not sound: "+o.Line))
		}
		lines = append(lines, o.Line)
	}
	return lines, err
}

// SetCitus makes db read Citus's catalog in another schema, and switch another setting off
// for migrations, where it is not "". Every write checks that Citus does not manage the tables.
func SetCitus(db *DB, catalog, setting string) {
	db.citus.catalog, db.citus.every = catalog, 0
	if setting != "" {
		db.citus.setting = setting
	}
}

// SetCitusEvery sets how often writes check that.
func SetCitusEvery(db *DB, every time.Duration) { db.citus.every = every }

// SetServer makes db read what the server says by another query.
func SetServer(db *DB, query string) { db.citus.server = query }

// OnOwnerIn is OnOwner with Citus's catalog in another schema.
func OnOwnerIn(ctx context.Context, tx any, table, catalog string) error {
	return onOwner(ctx, tx, table, catalog)
}

// Kin is what a server is: its name, what it is refused for, and what the doctor finds.
func Kin(host string, said map[string]string) (name, refused string, found []health.Finding) {
	k := kin(host, said)
	return k.Name, k.Refused, checkKind(&k)
}

// CheckServer is the finding on such a server.
func CheckServer(version string, number int64, standby, readOnly bool, isolation string) []health.Finding {
	return checkServer(&serverInfo{version, number, standby, readOnly, isolation, "UTF8"})
}

// CheckConnections is the finding on so many connections.
func CheckConnections(most, used, limit int64) []health.Finding {
	return checkConnections([]usage{{"server", used, most}}, limit)
}

// CheckAge is the finding on a table whose rows are so old.
func CheckAge(age int64) []health.Finding {
	return (&examiner{DB: &DB{}}).checkTable(&table{Name: "t", Age: age, Dead: -1})
}

// CheckPooler is the finding on connections that such processes answered.
func CheckPooler(told, before, second, after uint32) []health.Finding {
	return checkPooler(told, sessions{before, second, after})
}

// AddOperation gives db an operation of a test's own.
func AddOperation(db *DB, op engine.Operation, text string) error {
	return db.folder.Bind(&folder().Syntax, op, text)
}

// Wrapped is an error of the driver's as pawl returns it.
func Wrapped(err error) error { return wrap("test", err, engine.ErrConnLost) }

// GoStatements are those that stand in Go instead of a file, but for DDL.
var GoStatements = map[string]string{
	"server": serverRead, "owner": ownerFind, "block": blockNext, "history": historyRead, "objects": objectRead, "notify": notifySelf, "lock": lockQueue, "unlock": unlockQueue,
	"pinned": pinPlans, "relaxed": relaxedCommit,
}

// Unbound are the files that no operation names.
func Unbound(db *DB) []string { return db.folder.Unbound() }

// Portable is an argument as drivers other than pgx's are given it.
func Portable(arg any) any { return portable(arguments([]any{arg}))[0] }

// Wrap tells of what class an error is.
func Wrap(op string, err error) error { return wrap(op, err, engine.ErrConnLost) }

// Statements are those that are bound to operations.
func Statements(db *DB) []*engine.Statement { return db.folder.Statements() }

// StatementOf is the statement of an operation, and its arguments.
func StatementOf(db *DB, o engine.Operation) (text string, args []any) {
	o = single(o)
	s := db.folder.Statement(o)
	return s.Text, arguments(s.Args(nil, o, nil))
}

// Settings are those that the engine makes for the transaction of an operation.
func Settings(db *DB, o engine.Operation) string {
	return db.settings([]*engine.Call{engine.Ask(single(o))})
}

// AwaitBackground waits until nothing runs in the background.
func AwaitBackground(db *DB) {
	idle := make(chan struct{})
	over := sync.OnceFunc(func() { close(idle) })
	for ; ; time.Sleep(time.Millisecond) {
		db.ahead.Run(func(context.Context) { over() })
		select {
		case <-idle:
			return
		default:
		}
	}
}

// Swept reports whether claims of a queue read what is below their mark at once.
func Swept(db *DB, queue string) bool {
	t := db.tunerOf(queue)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.below.width == 0
}

// TimersSwept reports whether reads of due times read what is below their mark at once.
func TimersSwept(db *DB) bool {
	t := db.timers.Load()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.below.width == 0
}
