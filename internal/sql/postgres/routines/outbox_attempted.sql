-- Keep the last p_keep failed attempts of messages, these among them. The settings pin the plan
-- to the index: the table may have been empty when it was last analyzed.
CREATE OR REPLACE FUNCTION pawl.outbox_attempted(p_ids bigint[], p_attempts integer[], p_errors text[], p_worker text, p_keep integer) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
BEGIN
  INSERT INTO pawl.outbox_attempt (id, attempt, ended_at, worker, error)
  SELECT a.id, a.attempt, clock_timestamp(), p_worker, a.error FROM unnest(p_ids, p_attempts, p_errors) a(id, attempt, error);
  DELETE FROM pawl.outbox_attempt a WHERE a.ctid = ANY (ARRAY(
    SELECT old.tid FROM unnest(p_ids) i(id),
      LATERAL (SELECT x.ctid AS tid FROM pawl.outbox_attempt x WHERE x.id = i.id ORDER BY x.nr DESC OFFSET p_keep) old));
END $f$;
