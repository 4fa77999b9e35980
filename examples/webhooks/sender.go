package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/webhook"
	"github.com/bravellian/pawl/sqlite"
)

// sender is our service: customers enter where they want to hear of orders.
type sender struct {
	pawl *pawl.Pawl
	db   *sql.DB
}

const senderTables = `
CREATE TABLE IF NOT EXISTS hooks (customer text PRIMARY KEY, url text NOT NULL, secrets text NOT NULL);
CREATE TABLE IF NOT EXISTS orders (number integer PRIMARY KEY, what text NOT NULL);`

// newSender makes the tables and the sink. Each customer's webhooks have a topic of their own, hook.NAME,
// so that a customer whose service is down keeps no other waiting, and can be paused alone.
func newSender(ctx context.Context, p *pawl.Pawl, private bool) (http.Handler, error) {
	s := &sender{p, sqlite.SQL(p.DB())}
	if _, err := s.db.ExecContext(ctx, senderTables); err != nil {
		return nil, err
	}
	sink, err := webhook.New(p, webhook.Options{Lookup: webhook.Table(s.db, "SELECT url, secrets FROM hooks WHERE customer = ?"), AllowPrivate: private})
	if err != nil {
		return nil, err
	}
	sink.Handle("hook.*")
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /hooks/{customer}", s.register)
	mux.HandleFunc("POST /orders", s.placeOrder)
	return mux, nil
}

// register stores where a customer wants to hear of orders, and answers the secret that he verifies them
// with. The address is what he says: that it leads to nothing private is checked by the sink, for every
// connection.
func (s *sender) register(w http.ResponseWriter, r *http.Request) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // which never fails
	secret := "whsec_" + base64.StdEncoding.EncodeToString(key)
	_, err := s.db.ExecContext(r.Context(), "INSERT INTO hooks VALUES (?, ?, ?) ON CONFLICT (customer) DO UPDATE SET url = excluded.url, secrets = excluded.secrets",
		r.PathValue("customer"), r.FormValue("url"), secret)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, secret)
}

// placeOrder writes an order and a message for each customer's hook, in one transaction.
func (s *sender) placeOrder(w http.ResponseWriter, r *http.Request) {
	number, err := s.place(r.Context(), r.FormValue("what"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "order", number)
}

func (s *sender) place(ctx context.Context, what string) (number int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	if err := tx.QueryRowContext(ctx, "INSERT INTO orders (what) VALUES (?) RETURNING number", what).Scan(&number); err != nil {
		return 0, err
	}
	customers, err := column(ctx, tx, "SELECT customer FROM hooks")
	if err != nil {
		return 0, err
	}
	body, err := json.Marshal(map[string]any{"type": "order.placed", "number": number, "what": what})
	if err != nil {
		return 0, err
	}
	messages := webhook.Messages(outbox.Message{Topic: "order.placed", Payload: body}, "hook.", customers...)
	if _, err := s.pawl.Outbox.EnqueueBatchTx(ctx, tx, messages); err != nil {
		return 0, err
	}
	return number, tx.Commit()
}

// column reads one column of text.
func column(ctx context.Context, tx *sql.Tx, query string) (all []string, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
