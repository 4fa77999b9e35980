-- Cancel messages, and ask for the end of those that are claimed: their workers read it. Returns how
-- many were cancelled or are claimed.
CREATE OR REPLACE FUNCTION pawl.outbox_stop(p_ids bigint[], p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_got bigint;
BEGIN
  -- First, for all: a message may be claimed before it is looked for among those that wait.
  INSERT INTO pawl.outbox_stopping (id, reason) SELECT i, p_reason FROM unnest(p_ids) i WHERE pawl.unsettled(i) ORDER BY i
  ON CONFLICT (id) DO UPDATE SET owner = NULL, reason = excluded.reason;
  v_got := pawl.outbox_cancel(p_ids, p_reason);
  DELETE FROM pawl.outbox_stopping s WHERE s.id = ANY (p_ids) AND pawl.settled(s.id);
  RETURN v_got + (SELECT count(*) FROM pawl.outbox_stopping s WHERE s.id = ANY (p_ids));
END $f$;
