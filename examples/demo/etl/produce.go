package etl

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/scene"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// body is what all handlers of the scene get; only extracts have a source.
type body struct {
	RunID  string `json:"run_id"`
	Source string `json:"source,omitempty"`
}

// Scene starts runs.
type Scene struct {
	DB    *scene.Database
	Joins *join.Joins
	Runs  int

	started atomic.Int64
}

// Title describes the scene.
func (s *Scene) Title() string {
	return fmt.Sprintf("starting %d ETL runs: three extracts each, joined, then a transform", s.Runs)
}

// Messages is how many there will be: of each run its extracts, the wait for
// them, and what follows.
func (s *Scene) Messages() int64 { return int64(s.Runs * (extractsOfRun + 2)) }

// Progress says how far the runs are. What waits for extracts is a message too.
func (s *Scene) Progress(n outbox.Counts) string {
	return fmt.Sprintf("%d runs: %d messages handled, %d in hand, %d due, %d waiting for extracts or retries, %d failed",
		s.started.Load(), n.Done, n.InProgress, n.Ready, n.Scheduled+n.Retrying, n.Failed)
}

// Produced describes what Produce did.
func (s *Scene) Produced() string { return fmt.Sprintf("runs started: %d", s.started.Load()) }

// Produce starts every run with its join and extracts, each in one transaction.
func (s *Scene) Produce(ctx context.Context) error {
	for _, r := range runs(s.Runs) {
		if err := s.DB.Transact(ctx, func(tx *sql.Tx) error { return s.start(ctx, tx, r) }); err != nil {
			return fmt.Errorf("start run %s: %w", r.id, err)
		}
		s.started.Add(1)
	}
	return nil
}

func (s *Scene) start(ctx context.Context, tx *sql.Tx, r run) error {
	var steps []outbox.Message
	for _, source := range sources() {
		steps = append(steps, r.message(extractTopic, source))
	}
	spec := join.Spec{GroupingKey: r.customer, Metadata: `{"type":"etl","phase":"extract","run":"` + r.id + `"}`}
	fan, err := s.Joins.FanOutTx(ctx, tx, spec, steps, join.Wait{OnComplete: r.message(transformTopic, ""), OnFail: r.message(notifyTopic, "")})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, s.DB.Text(`INSERT INTO pawl.etl_runs (id, customer, join_id) VALUES (?1, ?2, ?3)`), r.id, r.customer, fan.Join.String())
	return err
}

func (r run) message(topic *pawl.Topic[body], source string) outbox.Message {
	return topic.With(body{r.id, source}, pawl.EnqueueOptions{CorrelationID: r.id})
}
