package health_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/sqlite"
)

// A program asks for its health, and adds a finding of its own.
func Example() {
	dir, err := os.MkdirTemp("", "health")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	ctx := context.Background()

	before := p.Health(ctx) // nobody has migrated the database
	if f := before.Find("schema"); f != nil {
		fmt.Println(f.Level, f.Code)
	}

	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	after := p.Health(ctx)
	fmt.Println("healthy:", after.Healthy())

	own := health.Finding{Code: "mail", Level: health.Warning, Summary: "the mail server answers slowly"}
	all := health.NewReport(append(after.Findings, own))
	fmt.Println(all.Level, all.Healthy())
	// Output:
	// problem schema
	// healthy: true
	// warning true
}
