package peers

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver that pawl uses
)

const (
	// connections is how many a peer may open on PostgreSQL; they come as needed.
	connections = 64
	// pollEvery is how often tuned peers ask for new messages.
	pollEvery = 20 * time.Millisecond
	// claimSize is how many messages plain SQL claims at once, as pawl does.
	claimSize = 500
)

// Place is where a repetition's data goes.
type Place struct {
	URL     string // of PostgreSQL; its search_path is an empty schema
	File    string // of SQLite, not there yet
	Relaxed bool   // SQLite: synchronous=NORMAL instead of FULL
}

// pool connects by pgx.
func (p Place) pool(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(p.URL)
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	return pgxpool.NewWithConfig(ctx, config)
}

// database connects by database/sql: with pgx, or to the file with one connection,
// which is what the peers on SQLite advise.
func (p Place) database() (*sql.DB, error) {
	if p.URL != "" {
		config, err := pgx.ParseConfig(p.URL)
		if err != nil {
			return nil, err
		}
		db := stdlib.OpenDB(*config)
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		return db, nil
	}
	settings := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(" + p.synchronous() + ")"}}
	db, err := sql.Open("sqlite", "file:"+p.File+"?"+settings.Encode())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// synchronous is SQLite's setting of that name.
func (p Place) synchronous() string {
	if p.Relaxed {
		return "NORMAL"
	}
	return "FULL"
}

// InTx runs f in a transaction of database/sql.
func InTx(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// asks returns a Settled that asks the database a question.
func asks(db *sql.DB, query string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (settled bool, err error) {
		err = db.QueryRowContext(ctx, query).Scan(&settled)
		return settled, err
	}
}

// moduleFile reads a file that a module ships but does not embed. The go command knows
// where the module is.
func moduleFile(ctx context.Context, module, name string) (string, error) {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), name))
	return string(text), err
}
