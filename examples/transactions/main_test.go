//go:build unix

package main

import (
	"errors"
	"testing"

	"github.com/bravellian/pawl/internal/test/guide"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

// each runs a test for each library on each database.
func each(t *testing.T, test func(t *testing.T, b *bank, move mover)) {
	for engine, at := range map[string]string{"sqlite": "", "postgres": testpg.URL(t)} {
		t.Run(engine, func(t *testing.T) {
			probe := opened(t, at)
			names := probe.libraries()
			probe.close()
			for _, name := range names {
				t.Run(name, func(t *testing.T) {
					b := opened(t, at)
					defer b.close()
					test(t, b, b.movers[name])
				})
			}
		})
	}
}

func opened(t *testing.T, at string) *bank {
	t.Helper()
	b, err := open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// has insists on the balances of the accounts, and on how many messages there are.
func (b *bank) has(t *testing.T, first, second, messages int64) {
	t.Helper()
	got := [2]int64{}
	for i := range got {
		if err := b.pool.QueryRowContext(t.Context(), "SELECT balance FROM accounts WHERE id = $1", i+1).Scan(&got[i]); err != nil {
			t.Fatal(err)
		}
	}
	var sent int64
	for _, err := range b.pawl.Outbox.List(t.Context(), outbox.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		sent++
	}
	if got[0] != first || got[1] != second || sent != messages {
		t.Errorf("%d and %d with %d messages, want %d and %d with %d", got[0], got[1], sent, first, second, messages)
	}
}

// The rows and the message are there together, or neither is: after an error and after a panic, too.
func TestMove(t *testing.T) {
	each(t, func(t *testing.T, b *bank, move mover) {
		if err := move(t.Context(), Transfer{From: 1, To: 2, Amount: 30}); err != nil {
			t.Fatal(err)
		}
		b.has(t, 70, 130, 1)
		if err := move(t.Context(), Transfer{From: 1, To: 2, Amount: 71}); !errors.Is(err, errFunds) {
			t.Errorf("with too little: %v", err)
		}
		b.has(t, 70, 130, 1)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_ = move(t.Context(), Transfer{From: 1, To: 2, Amount: 30, at: func(p place) {
				if p == written {
					panic("in between")
				}
			}})
		}()
		b.has(t, 70, 130, 1)
		if err := move(t.Context(), Transfer{From: 2, To: 1, Amount: 30}); err != nil {
			t.Fatalf("after a panic: %v", err)
		}
		b.has(t, 100, 100, 2)
	})
}

// A transaction that lost against another is repeated as a whole, and its message is there once. On SQLite
// the other one waits, so that nothing has to be repeated.
func TestMoveAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bank, move mover) {
		if b.movers["pgx"] == nil {
			return
		}
		attempts := 0
		err := move(t.Context(), Transfer{From: 1, To: 2, Amount: 30, at: func(p place) {
			if p != seen {
				return
			}
			if attempts++; attempts == 1 {
				if _, err := b.pool.ExecContext(t.Context(), "UPDATE accounts SET balance = balance - 50 WHERE id = 1"); err != nil {
					t.Error(err)
				}
			}
		}})
		if err != nil || attempts != 2 {
			t.Errorf("%d attempts: %v", attempts, err)
		}
		b.has(t, 20, 130, 1)
	})
}

// D-243: the program runs to its end.
func TestRun(t *testing.T) {
	for engine, at := range map[string]string{"sqlite": "", "postgres": testpg.URL(t)} {
		t.Run(engine, func(t *testing.T) {
			if err := run(t.Context(), at); err != nil {
				t.Error(err)
			}
		})
	}
}

// D-243: what the README shows is what happens.
func TestReadme(t *testing.T) { guide.Play(t, "README.md", "../..") }
