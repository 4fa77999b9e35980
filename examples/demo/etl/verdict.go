package etl

import (
	"context"

	"github.com/bravellian/pawl/examples/demo/scene"
)

// Verdict is what the database says afterwards: pawl's joins are held against
// what the handlers wrote into the scene's own tables.
type Verdict struct {
	Runs       int64   `json:"runs"`
	Completed  int64   `json:"joins_completed"`
	Failed     int64   `json:"joins_failed"`
	Extracts   int64   `json:"extracts"`
	Transforms int64   `json:"transforms"`
	Notices    int64   `json:"notices"`
	Retried    int64   `json:"retried"`
	Duplicates int64   `json:"duplicates_recognized"`
	Lost       int64   `json:"lost"`
	Early      int64   `json:"early"`
	Doubled    int64   `json:"doubled"`
	Phantom    int64   `json:"phantom"`
	Seconds    float64 `json:"seconds"`
}

// Good reports whether something was done, and every run got the one follow-up
// that it should have, in time.
func (v *Verdict) Good() bool {
	return v.Runs > 0 && v.Transforms == v.Completed && v.Notices == v.Failed && v.Completed+v.Failed == v.Runs &&
		v.Lost == 0 && v.Early == 0 && v.Doubled == 0 && v.Phantom == 0
}

const (
	started = `SELECT count(*) FROM pawl.etl_runs`

	joinsCompleted = `SELECT count(*) FROM pawl.outbox_joins WHERE status = 1`

	joinsFailed = `SELECT count(*) FROM pawl.outbox_joins WHERE status = 2`

	extracts = `SELECT count(*) FROM pawl.etl_extracts`

	transforms = `SELECT count(*) FROM pawl.etl_transforms`

	notices = `SELECT count(*) FROM pawl.etl_notices`

	retried = `SELECT count(*) FROM pawl.etl_deliveries WHERE outcome = 'refused'`

	duplicates = `SELECT count(*) FROM pawl.etl_deliveries WHERE outcome = 'duplicate'`

	// Runs without the end that they should have. Which one that is the handlers
	// wrote down: a source that was gone means failed and notified, none means
	// completed and transformed. It begins with the runs: a join that pawl forgot
	// altogether counts.
	lost = `
WITH j AS MATERIALIZED (SELECT CAST(join_id AS text) AS id, status FROM pawl.outbox_joins)
SELECT count(*)
  FROM pawl.etl_runs r
  LEFT JOIN j ON j.id = r.join_id
  LEFT JOIN (SELECT DISTINCT run_id FROM pawl.etl_deliveries WHERE outcome = 'rejected') g ON g.run_id = r.id
  LEFT JOIN (SELECT DISTINCT run_id FROM pawl.etl_transforms) t ON t.run_id = r.id
  LEFT JOIN (SELECT DISTINCT run_id FROM pawl.etl_notices) n ON n.run_id = r.id
 WHERE NOT (g.run_id IS NULL AND coalesce(j.status, 0) = 1 AND t.run_id IS NOT NULL
         OR g.run_id IS NOT NULL AND coalesce(j.status, 0) = 2 AND n.run_id IS NOT NULL)`

	// Runs that were transformed when not all was there to transform, or whose
	// join says completed although not all is there even now.
	early = `
WITH j AS MATERIALIZED (SELECT CAST(join_id AS text) AS id, status FROM pawl.outbox_joins)
SELECT count(*)
  FROM pawl.etl_runs r
  LEFT JOIN j ON j.id = r.join_id
  LEFT JOIN (SELECT run_id, count(*) AS n FROM pawl.etl_extracts GROUP BY run_id) e ON e.run_id = r.id
  LEFT JOIN (SELECT DISTINCT run_id FROM pawl.etl_transforms WHERE extracts <> 3) t ON t.run_id = r.id
 WHERE t.run_id IS NOT NULL OR j.status = 1 AND coalesce(e.n, 0) <> 3`

	// Follow-ups beyond one for each run, by message id, whether they took effect
	// or only lie in the outbox. That one message does so once is the table's key.
	doubled = `
SELECT CAST(coalesce(sum(n - 1), 0) AS bigint)
  FROM (SELECT run_id, count(*) AS n
          FROM (SELECT message_id, run_id FROM pawl.etl_transforms
                 UNION SELECT message_id, run_id FROM pawl.etl_notices
                 UNION SELECT CAST(message_id AS text), correlation_id FROM pawl.outbox WHERE topic IN ('etl.transform', 'etl.notify')) f
         GROUP BY run_id) s`

	// What speaks of a run that does not exist, transforms of runs with a source
	// that was gone, and notices of runs without.
	phantom = `
SELECT count(*)
  FROM (SELECT 'extract' AS kind, run_id FROM pawl.etl_extracts
         UNION ALL SELECT 'transform', run_id FROM pawl.etl_transforms
         UNION ALL SELECT 'notice', run_id FROM pawl.etl_notices) x
  LEFT JOIN pawl.etl_runs r ON r.id = x.run_id
  LEFT JOIN (SELECT DISTINCT run_id FROM pawl.etl_deliveries WHERE outcome = 'rejected') g ON g.run_id = x.run_id
 WHERE r.id IS NULL OR x.kind = 'transform' AND g.run_id IS NOT NULL OR x.kind = 'notice' AND g.run_id IS NULL`

	microseconds = `SELECT coalesce(max(at) - min(at), 0) FROM pawl.etl_deliveries`
)

// Judge asks the database what happened.
func Judge(ctx context.Context, d *scene.Database) (*Verdict, error) {
	var v Verdict
	var micros int64
	err := d.Ask(ctx, []scene.Question{
		{Into: &v.Runs, Text: started}, {Into: &v.Completed, Text: joinsCompleted}, {Into: &v.Failed, Text: joinsFailed},
		{Into: &v.Extracts, Text: extracts}, {Into: &v.Transforms, Text: transforms}, {Into: &v.Notices, Text: notices},
		{Into: &v.Retried, Text: retried}, {Into: &v.Duplicates, Text: duplicates},
		{Into: &v.Lost, Text: lost}, {Into: &v.Early, Text: early}, {Into: &v.Doubled, Text: doubled}, {Into: &v.Phantom, Text: phantom},
		{Into: &micros, Text: microseconds},
	})
	if err != nil {
		return nil, err
	}
	v.Seconds = float64(micros) / 1e6
	return &v, nil
}
