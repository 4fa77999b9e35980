package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/receive"
	"github.com/bravellian/pawl/sqlite"
)

// newReceiver makes a customer's service. HOOK_SECRET is the secret that the sender answered. A webhook
// is verified, stored and then acknowledged: it is not lost, and takes effect once, however often it
// comes.
func newReceiver(ctx context.Context, p *pawl.Pawl) (http.Handler, error) {
	db := sqlite.SQL(p.DB())
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS shipments (number integer PRIMARY KEY, what text NOT NULL)"); err != nil {
		return nil, err
	}
	hook, err := receive.New(p.Inbox, receive.Options{Source: "shop", Verify: receive.StandardWebhooks(os.Getenv("HOOK_SECRET")), TopicOf: func(e receive.Event) string { return "shop." + e.Type }})
	if err != nil {
		return nil, err
	}
	p.HandleInboxTx("shop.order.placed", ship)
	mux := http.NewServeMux()
	mux.Handle("POST /hook", hook)
	mux.HandleFunc("GET /shipments", func(w http.ResponseWriter, r *http.Request) {
		var n int
		if err := db.QueryRowContext(r.Context(), "SELECT count(*) FROM shipments").Scan(&n); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, n, "shipments")
	})
	return mux, nil
}

// ship runs in the transaction that also marks the webhook as done.
func ship(ctx context.Context, tx pawl.Tx, m *inbox.Message) error {
	var order struct {
		Number int64
		What   string
	}
	if err := json.Unmarshal(m.Payload, &order); err != nil {
		return outbox.Permanent(err)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO shipments VALUES (?, ?)", order.Number, order.What)
	return err
}
