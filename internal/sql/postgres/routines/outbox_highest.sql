-- The highest position within a range that is used, or 0.
CREATE OR REPLACE FUNCTION pawl.outbox_highest(p_from bigint, p_to bigint) RETURNS bigint LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
BEGIN
  RETURN greatest(0,
    (SELECT max(m.id) FROM pawl.outbox_message m WHERE m.id BETWEEN p_from AND p_to),
    (SELECT max(t.id) FROM pawl.timer t WHERE t.id BETWEEN p_from AND p_to),
    (SELECT max(r.id) FROM pawl.job_run r WHERE r.id BETWEEN p_from AND p_to));
END $f$;
