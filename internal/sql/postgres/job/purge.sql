-- As many as do not take long: see outbox_purge.
DELETE FROM pawl.job_run r WHERE r.id = ANY (ARRAY(
  SELECT x.id FROM pawl.job_run x WHERE x.outcome IS NOT NULL AND x.end_time < @now - @age
     AND NOT EXISTS (SELECT FROM pawl.job j WHERE j.id = x.job_id AND j.last_run = x.id) ORDER BY x.end_time LIMIT 10 * @most FOR UPDATE SKIP LOCKED))
