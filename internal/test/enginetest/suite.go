// Package enginetest is the conformance suite of the engines: what every
// engine.DB promises, whatever the database behind it.
package enginetest

import (
	"database/sql"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Place is a place for pawl's tables that nobody else uses: a file, a schema.
type Place struct {
	// Names are the schema and prefix that Open uses by default.
	Names engine.Names
	// Claims is the table of claimed runs, default outbox_claim.
	Claims string
	// Open returns another handle on the place, as another process would have
	// one. It is closed when the test ends.
	Open func(t testing.TB, o Options) engine.DB
	// SQL is a pool for looking at the tables past pawl.
	SQL *sql.DB
	// Pool returns the pool in which users of this handle begin transactions.
	Pool func(db engine.DB) *sql.DB
	// Drain takes all free connections of the handle's pool, until release;
	// nil where a pool has no limit.
	Drain func(t testing.TB, db engine.DB) (release func())
	// AddMigration makes a handle one of a newer build, whose schema has one
	// more migration.
	AddMigration func(db engine.DB, text string)
	// SetObject makes a handle one of another build, whose routine or view has
	// this text, or which has none if the text is empty.
	SetObject func(db engine.DB, kind, name, text string)
	// Take makes the place another one, which is migrated, unless it was opened. May be nil.
	Take func()
	// Polls means that a handle's waiters are woken by that handle's own calls alone.
	Polls bool
}

// Options for Open. The zero value takes the defaults.
type Options struct {
	Prefix           string // in place of the place's own
	StatementTimeout time.Duration
}

// Run runs the suite. place makes an empty place.
func Run(t *testing.T, place func(t testing.TB) *Place) {
	for name, test := range map[string]func(t *testing.T, p *Place){
		"migrating again changes nothing":                       migrateAgain,
		"eight that migrate at once":                            migrateTogether,
		"two prefixes that migrate a new schema at once":        migratePrefixesTogether,
		"nothing is created without Migrate":                    nothingCreated,
		"what is wrong with a schema":                           schemaErrors,
		"a failed migration leaves nothing":                     failedMigration,
		"a view that changes is made again":                     changedView,
		"an older and a newer program":                          olderAndNewer,
		"a program that is too old":                             tooOld,
		"a schema made by its script":                           scripts,
		"scripts of other versions":                             scriptRanges,
		"a schema without its notes":                            baseline,
		"a schema of somebody else":                             baselineOfOther,
		"odd names":                                             oddNames,
		"two prefixes side by side":                             twoPrefixes,
		"calls of one Do stand or fall together":                atomic,
		"a failing Do fails alone":                              neighbours,
		"in a caller's transaction only statements":             onlyStatements,
		"the caller's transaction decides":                      callerDecides,
		"cancelled before":                                      cancelledBefore,
		"a unique key taken":                                    uniqueTaken,
		"a schema that is missing":                              schemaMissing,
		"unknown operations":                                    unknownOperation,
		"errors hold no arguments":                              noArguments,
		"a call that finds nothing resets its rows":             forgetful,
		"rows that a caller keeps":                              keepRows,
		"columns that may be null":                              nullColumns,
		"ids are handed out once":                               idsOnce,
		"wrong numbers of ids":                                  idsWrong,
		"ids of a rolled back transaction":                      idsRolledBack,
		"a caller's transaction needs ids while another waits":  idsWhileWaiting,
		"an id given again":                                     repeatedOnce,
		"a message that is claimed from the start":              claimedAtOnce,
		"settling parts of a claim":                             parts,
		"many settle one claim at once":                         interleaved,
		"settling what is not held":                             notHeld,
		"counts of a random life":                               randomLife,
		"an expired lease comes back once":                      reapOnce,
		"what counts as an attempt":                             attempts,
		"redrive and discard":                                   deadOnes,
		"the oldest come first":                                 oldestFirst,
		"many claimers at once":                                 manyClaimers,
		"a waiter is woken by another handle's commit":          wokenByOther,
		"a waiter is woken by a transaction of the same handle": wokenByTx,
		"a waiter is woken by a notification":                   wokenByRing,
		"a waiter that nobody wakes":                            notWoken,
		"after Close":                                           afterClose,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, place(t))
		})
	}
}

// Migrated opens a handle and migrates.
func Migrated(t testing.TB, p *Place) engine.DB {
	t.Helper()
	if p.Take != nil {
		p.Take()
	}
	db := p.Open(t, Options{})
	Must(t, db.Migrate(t.Context()))
	return db
}
