// Package etl runs nightly jobs of many customers. Each run extracts from three sources
// side by side; the transform follows when all three are done. Where a source is gone a
// notification follows instead. A join counts how the extracts end.
package etl

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/scene"
)

// Topics of the messages of a run: one extract for every source, then either of
// the others.
var (
	extractTopic   = pawl.NewTopic[body]("etl.extract")
	transformTopic = pawl.NewTopic[body]("etl.transform")
	notifyTopic    = pawl.NewTopic[body]("etl.notify")
)

// extractsOfRun is how many extracts a run has; the verdict's SQL knows it too.
const extractsOfRun = 3

// sources are what every run extracts from.
func sources() [extractsOfRun]string { return [...]string{"customers", "orders", "products"} }

// run is one run of one customer.
type run struct {
	id       string
	customer string
}

// runs are the first n runs: the same ones each time.
func runs(n int) []run {
	all := make([]run, n)
	for i := range all {
		all[i] = run{fmt.Sprintf("RUN-2026-%05d", i+1), fmt.Sprintf("customer-%d", i+1)}
	}
	return all
}

// tables are the scene's. Times are microseconds since 1970.
const tables = `
CREATE TABLE pawl.etl_runs (id text PRIMARY KEY, customer text NOT NULL, join_id text NOT NULL);
-- The effects. A message takes effect once: its id is the key.
CREATE TABLE pawl.etl_extracts (message_id text PRIMARY KEY, run_id text NOT NULL, source text NOT NULL, items bigint NOT NULL);
-- extracts is how many the transform found when it ran.
CREATE TABLE pawl.etl_transforms (message_id text PRIMARY KEY, run_id text NOT NULL, extracts bigint NOT NULL, items bigint NOT NULL);
CREATE TABLE pawl.etl_notices (message_id text PRIMARY KEY, run_id text NOT NULL);
-- One row for every time that a handler was called and came to an end.
CREATE TABLE pawl.etl_deliveries (message_id text NOT NULL, run_id text NOT NULL, topic text NOT NULL, attempt bigint NOT NULL,
  outcome text NOT NULL, worker bigint NOT NULL, at bigint NOT NULL);
CREATE INDEX etl_extracts_run ON pawl.etl_extracts (run_id);
`

// Create makes the scene's tables.
func Create(ctx context.Context, d *scene.Database) error { return d.Create(ctx, tables) }
