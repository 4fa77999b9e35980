-- Delete what a limit for each topic of a pattern left where it is not in use: rows of topics under
-- which nothing is claimed and whose rate is saved up, and lanes of topics that have no row, if
-- nothing is in them nor comes back to them. Every claim that obeys limits reads the lanes of its
-- queue, so there must be no more of them than are in use. Nobody claims meanwhile, so that no
-- message gets into a lane that is deleted. SECURITY DEFINER: a worker cleans up, and may not end limits.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_purge() RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off SET lock_timeout = '100ms' AS $f$
BEGIN
  IF NOT EXISTS (SELECT FROM pawl.outbox_limit l WHERE l.pattern <> '')
     AND NOT EXISTS (SELECT FROM pawl.outbox_lane q WHERE q.kind = 3 AND NOT EXISTS (SELECT FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.name = q.topic)) THEN
    RETURN;
  END IF;
  LOCK TABLE pawl.outbox_limit IN EXCLUSIVE MODE; -- see outbox_limits_share
  DELETE FROM pawl.outbox_limit_claim u
   WHERE u.kind = 'topic' AND NOT EXISTS (SELECT FROM unnest(array_prepend(u.id, u.more)) i(id) WHERE pawl.claimed_now(i.id));
  DELETE FROM pawl.outbox_limit l
   WHERE l.pattern <> '' AND NOT EXISTS (SELECT FROM pawl.outbox_limit_claim u WHERE u.kind = 'topic' AND u.name = l.name)
     AND (l.rate IS NULL OR l.next_at <= clock_timestamp() - l.period * ((l.burst - 1)::float8 / l.rate));
  DELETE FROM pawl.outbox_lane q
   WHERE q.kind = 3 AND NOT EXISTS (SELECT FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.name = q.topic)
     AND NOT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = q.id) AND NOT EXISTS (SELECT FROM pawl.outbox_claim c WHERE c.lane = q.id);
EXCEPTION WHEN lock_not_available THEN
  NULL; -- the next time
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_limit_purge FROM PUBLIC;
