package pawltest

import (
	"context"
	"log/slog"
	"sync"

	"github.com/bravellian/pawl/internal/engine"
)

// apartDB warns, once for each transaction, of calls that are made with the context of a function
// that runs in a transaction of pawl's, and commit apart from it. On SQLite they fail.
type apartDB struct {
	engine.DB
	log    *slog.Logger
	warned *sync.Map
}

// Unwrap returns the database.
func (d apartDB) Unwrap() engine.DB { return d.DB }

func (d apartDB) Do(ctx context.Context, calls ...*engine.Call) error {
	d.warn(ctx, calls[0].Name(), "")
	return d.DB.Do(ctx, calls...)
}

func (d apartDB) InTx(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	d.warn(ctx, "begin", "")
	return d.DB.InTx(ctx, fn)
}

// InsideTx is that of the database; see engine.TxContexts.
func (d apartDB) InsideTx(ctx context.Context) (inside context.Context, end func()) {
	return engine.InsideTx(ctx, d.DB)
}

// CheckOutside warns, and returns what the database does; see engine.TxContexts.
func (d apartDB) CheckOutside(ctx context.Context, call, right string) error {
	d.warn(ctx, call, right)
	if c, ok := engine.As[engine.TxContexts](d.DB); ok {
		return c.CheckOutside(ctx, call, right)
	}
	return nil
}

func (d apartDB) warn(ctx context.Context, call, right string) {
	tx := engine.Inside(ctx, func() any { return d.DB })
	if tx == nil {
		return
	}
	if _, again := d.warned.LoadOrStore(tx, true); !again {
		d.log.WarnContext(ctx, "a call inside a transaction commits apart from it, and would fail on SQLite", "call", call, "use", right)
	}
}
