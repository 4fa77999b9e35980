package admin_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// opened returns a pawl on a fresh database; Run returns when nothing is left to do.
func opened(ctx context.Context) (*pawl.Pawl, func()) {
	dir, err := os.MkdirTemp("", "admin")
	must(err)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	must(err)
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	must(err)
	must(p.Migrate(ctx))
	return p, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// While a mail provider is down its topic is paused: messages wait, and no attempt is counted.
func Example() {
	ctx := admin.WithActor(context.Background(), "ann") // for the audit trail
	p, done := opened(ctx)
	defer done()
	p.Handle("mail", func(_ context.Context, m *outbox.Message) error {
		fmt.Printf("mail %s\n", m.Payload)
		return nil
	})
	id, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail", Payload: []byte("7")})
	must(err)

	_, err = p.Admin.Pause(ctx, admin.Topic, "mail", "the provider is down")
	must(err)
	must(p.Run(ctx))
	why, err := p.Admin.Explain(ctx, id.String())
	must(err)
	fmt.Println("it waits:", why.Finding.Code)

	_, err = p.Admin.Resume(ctx, admin.Topic, "mail")
	must(err)
	must(p.Run(ctx))
	// Output:
	// it waits: topic_paused
	// mail 7
}

// All processes together call a provider at most twice a second, and hold at most ten messages of
// the topic at a time.
func ExampleAdmin_SetLimit() {
	ctx := context.Background()
	p, done := opened(ctx)
	defer done()
	_, err := p.Admin.SetLimit(ctx, admin.Topic, "mail", outbox.Limit{Concurrency: 10, Rate: 2}, "the provider's terms")
	must(err)
	limits, err := p.Admin.Limits(ctx)
	must(err)
	for _, l := range limits {
		fmt.Println(l.Kind, l.Name, l.Concurrency, "at once,", l.Rate, "each", l.Period, "-", l.Reason)
	}
	// Output: topic mail 10 at once, 2 each 1s - the provider's terms
}
