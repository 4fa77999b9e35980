package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/receive"
	"github.com/bravellian/pawl/sink/webhook"
	"github.com/bravellian/pawl/sqlite"
)

// open returns a pawl with a database of its own, which ends when nothing is left to do.
func open() (p *pawl.Pawl, closed func()) {
	dir, err := os.MkdirTemp("", "webhook")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	p, err = pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = p.Migrate(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
	return p, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

// A message goes to an endpoint, which verifies it.
func Example() {
	p, closed := open()
	defer closed()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	verify := receive.StandardWebhooks(secret)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if _, err := verify.Verify(r.Header, body); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Printf("verified: %s\n", body)
	}))
	defer server.Close()

	sink, err := webhook.New(p, webhook.Options{
		Endpoint:     &webhook.Endpoint{URL: server.URL, Secrets: []string{secret}},
		AllowPrivate: true, // the server of this example is on this machine
	})
	if err != nil {
		log.Fatal(err)
	}
	sink.Handle("order.created")
	ctx := context.Background()
	if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "order.created", Payload: []byte(`{"number":7}`)}); err != nil {
		log.Fatal(err)
	}
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: verified: {"number":7}
}

// An event goes to each of several endpoints, by a message of its own.
func ExampleMessages() {
	event := outbox.Message{Topic: "order.created", Payload: []byte(`{"number":7}`)}
	for _, m := range webhook.Messages(event, "webhook.", "acme", "best") {
		fmt.Println(m.Topic, m.Headers[webhook.HeaderEventType])
	}
	// Output:
	// webhook.acme order.created
	// webhook.best order.created
}
