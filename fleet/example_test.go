package fleet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// A database per tenant, here files: one handler for all of them, which can tell
// whose message it has.
func Example() {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := fleet.New(fleet.Static(
		fleet.Database{Key: "acme", URL: "sqlite:" + filepath.Join(dir, "acme.db")},
		fleet.Database{Key: "globex", URL: "sqlite:" + filepath.Join(dir, "globex.db")},
	), fleet.Options{
		Engines: map[string]fleet.Opener{"sqlite": sqlite.OpenURL},               // and "postgres": postgres.OpenURL
		Pawl:    pawl.Options{EnableSchemaDeployment: true, StopWhenEmpty: true}, // a server leaves the second out
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = f.Close() }()

	var done sync.Map
	f.Handle("order.created", func(ctx context.Context, m *outbox.Message) error {
		done.Store(fleet.StoreOf(ctx).Key, string(m.Payload))
		return nil
	})

	ctx := context.Background()
	if err := f.MigrateAll(ctx, "globex"); err != nil {
		log.Fatal(err)
	}
	for _, tenant := range []string{"acme", "globex"} {
		p, err := f.Pawl(ctx, tenant)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "order.created", Payload: []byte("an order of " + tenant)}); err != nil {
			log.Fatal(err)
		}
	}
	if err := f.Run(ctx); err != nil {
		log.Fatal(err)
	}
	for _, tenant := range []string{"acme", "globex"} {
		order, _ := done.Load(tenant)
		fmt.Println(tenant, "handled", order)
	}

	_, err = f.Pawl(ctx, "initech")
	fmt.Println(err)
	// Output:
	// acme handled an order of acme
	// globex handled an order of globex
	// unknown store: "initech"
}
