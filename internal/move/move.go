// Package move takes all that a store holds to another database: while it is worked on, in
// bounded transactions, so that a move that was killed goes on where it was. See docs/moving.md.
package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	from = "from"
	to   = "to"
)

// Errors of moves that cannot begin or go on. None has changed anything.
var (
	// ErrNotEmpty: the new database has messages or other rows of a store.
	ErrNotEmpty = errors.New("database not empty")
	// ErrOther: another move of the store, or one into the new database, is under way.
	ErrOther = errors.New("another move is under way")
	// ErrOver: the move cannot be given up, because it is over.
	ErrOver = errors.New("the store was moved")
)

// Place is the address of a database as the other one knows it.
type Place struct {
	Where          string // without a password
	Schema, Prefix string
}

// Side is one of the two databases.
type Side struct {
	DB    engine.DB
	Place Place
}

// Options adjust a move.
type Options struct {
	// Drain is how long to wait for what was claimed before the store is closed, default 30 s;
	// below 0: not at all.
	Drain time.Duration
	// Switch is called when all is copied and nobody can write to either database. After an
	// error the move can be repeated. May be nil.
	Switch func(ctx context.Context) error
	// Batch is how many rows of a table the first transaction copies, default 100. It grows.
	Batch  int
	Logger *slog.Logger
}

const (
	defaultDrain = 30 * time.Second
	drainPoll    = 50 * time.Millisecond
	// fencePause is the pause between attempts to close a store while programs keep
	// transactions open.
	fencePause = 200 * time.Millisecond
)

// Report says what a move did. Times are those of this call.
type Report struct {
	Rows   map[string]int64 // that were copied, by table
	Closed time.Duration    // how long nobody could write
}

// mover is a move under way.
type mover struct {
	old, new Side
	a, b     engine.Movable
	id       [16]byte
	opts     Options
	log      *slog.Logger
	report   Report
	closedAt time.Time
	skew     time.Duration // of the new database's clock against the old one's
	oldPhase string
	newPhase string
	tables   []engine.Table
	messages *engine.Table
	others   []engine.Table
}

// Run moves a store. Repeated after it failed or was killed it goes on where it was. Both
// databases have to be migrated.
func Run(ctx context.Context, old, new Side, opts Options) (Report, error) {
	m, err := prepare(old, new, opts)
	if err != nil {
		return Report{}, err
	}
	err = m.run(ctx)
	return m.report, err
}

func prepare(old, new Side, opts Options) (*mover, error) {
	m := &mover{old: old, new: new, opts: opts, log: engine.Logger(opts.Logger), report: Report{Rows: map[string]int64{}}, tables: engine.Tables()}
	if m.opts.Batch == 0 {
		m.opts.Batch = firstBatch
	}
	if m.opts.Drain == 0 {
		m.opts.Drain = defaultDrain
	}
	var ok bool
	if m.a, ok = engine.As[engine.Movable](old.DB); !ok {
		return nil, engine.Invalid("store", "a store of %s cannot be moved", old.DB.Engine())
	}
	if m.b, ok = engine.As[engine.Movable](new.DB); !ok {
		return nil, engine.Invalid("to", "no store can be moved to %s", new.DB.Engine())
	}
	for i := range m.tables {
		if m.tables[i].Name == engine.Messages {
			m.messages = &m.tables[i]
		} else {
			m.others = append(m.others, m.tables[i])
		}
	}
	return m, nil
}

func (m *mover) run(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	if m.newPhase != op.Arrived {
		if err := m.copyAll(ctx); err != nil {
			return err
		}
	}
	if m.oldPhase != op.Moved {
		if err := m.put(ctx, m.old, from, op.Closed, op.Moved, m.new.Place); err != nil {
			return err
		}
	}
	if !m.closedAt.IsZero() {
		m.report.Closed = time.Since(m.closedAt)
	}
	m.log.Info("moved a store", "database", m.new.Place.Where, "closed_for", m.report.Closed)
	return nil
}

func (m *mover) copyAll(ctx context.Context) error {
	if m.oldPhase == op.Copying {
		if err := m.copyTable(ctx, m.messages); err != nil {
			return err
		}
		if err := m.close(ctx); err != nil {
			return err
		}
	}
	if m.closedAt.IsZero() {
		m.closedAt = time.Now()
	}
	if err := m.compareMessages(ctx); err != nil {
		return err
	}
	if err := m.renew(ctx); err != nil {
		return err
	}
	for i := range m.others {
		if err := m.copyTable(ctx, &m.others[i]); err != nil {
			return fmt.Errorf("copy %s: %w", m.others[i].Name, err)
		}
	}
	if m.opts.Switch != nil {
		if err := m.opts.Switch(ctx); err != nil {
			return fmt.Errorf("switch: %w", err)
		}
	}
	return m.open(ctx)
}

// begin finds out how far the move is, and records it in both databases if it is new.
func (m *mover) begin(ctx context.Context) error {
	a, b, err := m.states(ctx)
	if err != nil {
		return err
	}
	if a.Store == b.Store {
		return engine.Invalid("to", "it is the database that the store is in")
	}
	if err := m.resume(ctx, &a, &b); err != nil {
		return err
	}
	if m.oldPhase == "" {
		m.oldPhase = op.Copying
		if err := m.put(ctx, m.old, from, phaseOf(&a), op.Copying, m.new.Place); err != nil {
			return err
		}
	}
	if m.newPhase == "" {
		return m.fill(ctx, phaseOf(&b))
	}
	return nil
}

// resume takes the phases from the states of the old and the new database. It leaves those empty
// that are yet to begin.
func (m *mover) resume(ctx context.Context, a, b *op.Move) error {
	m.id = uuid.Must(uuid.NewV7())
	switch {
	case a.Role == nil || *a.Phase == op.Arrived:
	case *a.Role == to:
		return fmt.Errorf("%w: into the old database, %s", ErrOther, m.old.Place.Where)
	case *a.Place != m.new.Place.Where || *a.SchemaName != m.new.Place.Schema || *a.Prefix != m.new.Place.Prefix:
		return fmt.Errorf("%w, or over: to %s", ErrOther, *a.Place)
	default:
		m.id, m.oldPhase = *a.ID, *a.Phase
	}
	ours := b.ID != nil && *b.ID == m.id
	switch {
	case ours:
		m.newPhase = *b.Phase
	case m.oldPhase == op.Closed || m.oldPhase == op.Moved:
		return fmt.Errorf("%w: the new database knows nothing of it", ErrOther)
	case b.Role != nil && *b.Phase != op.Moved && *b.Phase != op.Arrived:
		return fmt.Errorf("%w: at %s", ErrOther, m.new.Place.Where)
	default:
		return m.checkEmpty(ctx, b)
	}
	return nil
}

// checkEmpty returns an error if the new database holds a store already: ErrOther if a move into it began
// after its state b was read.
func (m *mover) checkEmpty(ctx context.Context, b *op.Move) error {
	for i := range m.tables {
		t := &m.tables[i]
		if t.Shared {
			continue
		}
		rows, err := m.b.TableRows(ctx, t, nil, 1)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			continue
		}
		_, now, err := m.states(ctx)
		if err == nil && now.ID != nil && (b.ID == nil || *now.ID != *b.ID) {
			return fmt.Errorf("%w: at %s", ErrOther, m.new.Place.Where)
		}
		return cmp.Or(err, fmt.Errorf("%w: %s has rows in %s", ErrNotEmpty, m.new.Place.Where, t.Name))
	}
	return nil
}

// fill keeps others from writing to the new database.
func (m *mover) fill(ctx context.Context, was string) error {
	return m.fence(ctx, m.b, engine.Fence{ID: m.id}, func(ctx context.Context, tx engine.Tx) error {
		if err := m.new.DB.DoTx(ctx, tx, engine.Ask(op.MoveClear{})); err != nil {
			return err
		}
		return m.putTx(ctx, tx, m.new, to, was, op.Filling, m.old.Place)
	})
}

// open lets others write to the new database.
func (m *mover) open(ctx context.Context) error {
	return m.unfence(ctx, m.b, func(ctx context.Context, tx engine.Tx) error {
		if err := m.putTx(ctx, tx, m.new, to, op.Filling, op.Arrived, m.old.Place); err != nil {
			return err
		}
		return m.new.DB.DoTx(ctx, tx, engine.Ask(op.MoveClear{}))
	})
}
