package fleet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// Processes divide the stores of a fleet among themselves: they find each other in a control
// database. This one is alone, and so works on all.
func ExampleShare() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "control"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	f, err := fleet.New(fleet.Static(fleet.Database{Key: "acme", URL: "sqlite:" + filepath.Join(dir, "acme.db")}), fleet.Options{
		Engines: map[string]fleet.Opener{"sqlite": sqlite.OpenURL},
		Pawl:    pawl.Options{EnableSchemaDeployment: true, StopWhenEmpty: true}, // a server leaves the second out
		Share:   &fleet.Share{DB: db, Fleet: "tenants"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	f.Handle("order.created", func(ctx context.Context, m *outbox.Message) error {
		fmt.Printf("%s for %s\n", m.Payload, fleet.StoreOf(ctx).Key)
		fmt.Println(f.Health(ctx).Find("stores").Summary)
		return nil
	})
	if err := f.MigrateAll(ctx, "acme"); err != nil {
		log.Fatal(err)
	}
	p, err := f.Pawl(ctx, "acme")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "order.created", Payload: []byte("an order")}); err != nil {
		log.Fatal(err)
	}
	if err := f.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// an order for acme
	// all 1 stores are well; this process works on 1, shared by 1 processes
}
