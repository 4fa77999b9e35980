package outbox_test

import (
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-405: however many messages one key has, those of others behind them are found by the next claim.
func TestOrderBehindAHotKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for range 30 {
			if _, err := f.EnqueueBatch(t.Context(), slices.Repeat([]outbox.Message{withKey("hot")}, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range "abcdefg" { // each claim begins with another key
			f.enqueue(withKey(string(key)))
			f.take(string(key), "hot")
		}
	})
}

// D-405: messages of a key lie in one group, however they were enqueued, and those of another key in another.
func TestOrderGroups(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		enqueue := func(key string) {
			f.enqueue(outbox.Message{Topic: "t", OrderingKey: key})
			f.enqueue(outbox.Message{Topic: "t", OrderingKey: key, ID: outbox.MessageID{1, byte(len(key))}})
		}
		groups := func(want int) {
			t.Helper()
			if n := f.rows("SELECT DISTINCT at FROM " + f.db.Table("outbox_ready")); n != want {
				t.Errorf("messages lie in %d groups, want %d", n, want)
			}
		}
		enqueue("ключ")
		if e.Name == "postgres" {
			if _, err := f.db.SQL.ExecContext(t.Context(), "SELECT "+f.db.Table("outbox_enqueue")+`('t', '', headers => '{"pawl-ordering-key": "ключ"}')`); err != nil {
				t.Fatal(err)
			}
		}
		groups(1)
		if e.Name != "sqlserver" { // where nothing lies in groups
			enqueue("another")
			groups(2)
		}
	})
}
