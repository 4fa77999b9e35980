package receive_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/receive"
	"github.com/bravellian/pawl/sqlite"
)

// A webhook of GitHub is stored, acknowledged, and handled by a worker.
func Example() {
	dir, err := os.MkdirTemp("", "receive")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)}) // a server leaves these out
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}

	h, err := receive.New(p.Inbox, receive.Options{Source: "github", Topic: "github.event", Verify: receive.GitHub("It's a Secret to Everybody")})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /hooks/github", h)
	p.HandleInbox("github.event", func(_ context.Context, m *inbox.Message) error {
		fmt.Printf("%s: %s\n", m.Headers[receive.HeaderEventType], m.Payload)
		return nil
	})

	request := httptest.NewRequest(http.MethodPost, "/hooks/github", strings.NewReader("Hello, World!"))
	request.Header.Set("X-GitHub-Event", "ping")
	request.Header.Set("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, request)
	fmt.Println(answer.Code)
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 204
	// ping: Hello, World!
}
