-- Jobs: see docs/jobs.md. The views at the end are the seed's Jobs and JobRuns,
-- with readable ids and times.

CREATE TABLE pawl.job (
  id            BLOB PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE,
  topic         TEXT NOT NULL,
  payload       ANY NOT NULL,
  headers       TEXT,
  lane          INTEGER NOT NULL,
  schedule      TEXT NOT NULL,
  zone          TEXT NOT NULL,
  misfire       INTEGER NOT NULL, -- 0 once, 1 none, 2 all
  misfire_limit INTEGER NOT NULL, -- of all
  overlap       INTEGER NOT NULL, -- 0 allowed, 1 skip
  spread        INTEGER NOT NULL, -- microseconds
  shift         INTEGER NOT NULL, -- this job's part of them
  enabled       INTEGER NOT NULL DEFAULT 1,
  next_time     INTEGER,          -- nominal time of the next run; null: none
  due_at        INTEGER,          -- when to make it: next_time + shift, or when to look again at a broken job
  last_run      INTEGER,
  last_error    TEXT,             -- why its schedule cannot be followed
  version       INTEGER NOT NULL DEFAULT 1, -- grows with every change but those of the two times
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX pawl.job_due ON pawl.job (due_at, id) WHERE due_at IS NOT NULL;

-- A run is its message: id is the message's position. As long as outcome is null
-- the message's place says what has become of it; job/settle writes it down
-- before the outbox forgets the message.
CREATE TABLE pawl.job_run (
  id             INTEGER PRIMARY KEY,
  run_id         BLOB NOT NULL, -- the message's id
  job_id         BLOB NOT NULL,
  job_name       TEXT NOT NULL,
  scheduled_time INTEGER NOT NULL, -- nominal
  triggered      INTEGER NOT NULL DEFAULT 0,
  missed         INTEGER NOT NULL DEFAULT 0, -- of outcome 6: how many times, scheduled_time being the first
  outcome        INTEGER, -- as the outbox has it: 2 succeeded, 4 discarded; 5 skipped, 6 missed
  created_at     INTEGER NOT NULL,
  start_time     INTEGER,
  end_time       INTEGER,
  retry_count    INTEGER NOT NULL DEFAULT 0,
  claimed_by     TEXT,
  last_error     TEXT
) STRICT;
-- One run a nominal time, whoever makes it (D-82).
CREATE UNIQUE INDEX pawl.job_run_once ON pawl.job_run (job_id, scheduled_time) WHERE triggered = 0;
CREATE INDEX pawl.job_run_history ON pawl.job_run (job_name, scheduled_time, id);
CREATE INDEX pawl.job_run_open ON pawl.job_run (job_id, id) WHERE outcome IS NULL;
CREATE INDEX pawl.job_run_over ON pawl.job_run (end_time) WHERE outcome IS NOT NULL;

-- Runs with what their messages say. status: 0 pending, 1 running, 2 succeeded,
-- 3 failed, 4 cancelled, 5 skipped, 6 missed; null if the message is gone.
CREATE VIEW pawl.job_run_item AS
SELECT r.id, r.run_id, r.job_id, r.job_name, r.scheduled_time, r.triggered, r.missed, r.outcome, r.created_at, r.start_time,
       coalesce(r.outcome, CASE WHEN q.lo IS NOT NULL THEN 0 WHEN c.lo IS NOT NULL THEN 1 WHEN d.lo IS NOT NULL THEN 2 ELSE e.status END) AS status,
       coalesce(r.end_time, d.processed_at, CASE WHEN e.status >= 3 THEN e.updated_at END) AS end_time,
       coalesce(q.retry, c.retry, e.retry_count, r.retry_count) AS retry_count,
       coalesce(CASE WHEN c.owner IS NOT NULL THEN lower(hex(c.owner)) END, d.processed_by, r.claimed_by) AS claimed_by,
       coalesce(e.last_error, r.last_error) AS last_error
  FROM pawl.job_run r
  LEFT JOIN pawl.outbox_ready q ON r.outcome IS NULL AND q.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= r.id) AND q.lo + q.n > r.id
  LEFT JOIN pawl.outbox_claim c ON r.outcome IS NULL AND c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= r.id) AND c.lo + c.n > r.id
  LEFT JOIN pawl.outbox_done  d ON r.outcome IS NULL AND d.lo = (SELECT max(x.lo) FROM pawl.outbox_done  x WHERE x.lo <= r.id) AND d.lo + d.n > r.id
  LEFT JOIN pawl.outbox_exception e ON r.outcome IS NULL AND e.id = r.id;

CREATE VIEW pawl.jobs AS
SELECT lower(substr(hex(j.id), 1, 8) || '-' || substr(hex(j.id), 9, 4) || '-' || substr(hex(j.id), 13, 4)
         || '-' || substr(hex(j.id), 17, 4) || '-' || substr(hex(j.id), 21)) AS id,
       j.name AS job_name, j.schedule AS cron_schedule, j.topic, j.payload, j.enabled AS is_enabled,
       strftime('%Y-%m-%dT%H:%M:%fZ', j.next_time / 1e6, 'unixepoch') AS next_due_time,
       (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(i.start_time, i.created_at) / 1e6, 'unixepoch') FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_time,
       (SELECT CASE i.status WHEN 0 THEN 'Pending' WHEN 1 THEN 'Running' WHEN 2 THEN 'Succeeded' WHEN 3 THEN 'Failed' WHEN 4 THEN 'Cancelled' END
          FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_status,
       j.zone, l.queue, l.priority, j.last_error
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane;

CREATE VIEW pawl.job_runs AS
SELECT lower(substr(hex(i.run_id), 1, 8) || '-' || substr(hex(i.run_id), 9, 4) || '-' || substr(hex(i.run_id), 13, 4)
         || '-' || substr(hex(i.run_id), 17, 4) || '-' || substr(hex(i.run_id), 21)) AS id,
       lower(substr(hex(i.job_id), 1, 8) || '-' || substr(hex(i.job_id), 9, 4) || '-' || substr(hex(i.job_id), 13, 4)
         || '-' || substr(hex(i.job_id), 17, 4) || '-' || substr(hex(i.job_id), 21)) AS job_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.scheduled_time / 1e6, 'unixepoch') AS scheduled_time,
       CASE i.status WHEN 0 THEN 'Pending' WHEN 1 THEN 'Running' WHEN 2 THEN 'Succeeded' WHEN 3 THEN 'Failed' WHEN 4 THEN 'Cancelled'
                     WHEN 5 THEN 'Skipped' WHEN 6 THEN 'Missed' END AS status,
       i.claimed_by, strftime('%Y-%m-%dT%H:%M:%fZ', i.start_time / 1e6, 'unixepoch') AS claimed_at, i.retry_count,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.start_time / 1e6, 'unixepoch') AS start_time,
       strftime('%Y-%m-%dT%H:%M:%fZ', i.end_time / 1e6, 'unixepoch') AS end_time,
       NULL AS output, i.last_error, i.job_name, i.triggered, i.missed
  FROM pawl.job_run_item i;
