-- Take a message to process it: 1 if the caller holds it now, otherwise the result of
-- inbox_see. Without a lease the transaction holds it: a second delivery fails to get the
-- lock and need not wait for the outcome. With a lease the token holds it until the lease
-- ends, and the attempt counts at once, so that a message that ends its process becomes dead.
-- p_resumes: an attempt that did not end is the same attempt, for callers that count attempts
-- elsewhere.
CREATE OR REPLACE FUNCTION pawl.inbox_take(p_source text, p_message text, p_hash bytea, p_token uuid, p_lease interval, p_max integer, p_resumes boolean) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_verdict integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(pawl.inbox_lock_key(p_source, p_message)) THEN
    RETURN 5;
  END IF;
  v_verdict := pawl.inbox_see(p_source, p_message, p_hash, p_token);
  IF v_verdict <> 0 THEN
    RETURN v_verdict;
  END IF;
  IF p_lease IS NULL THEN
    RETURN 1;
  END IF;
  UPDATE pawl.inbox i SET attempts = i.attempts + (NOT (p_resumes AND i.status = 'Processing'))::integer, token = p_token, locked_until_utc = clock_timestamp() + p_lease, status = 'Processing'
   WHERE i.source = p_source AND i.message_id = p_message AND (p_max = 0 OR i.attempts - (p_resumes AND i.status = 'Processing')::integer < p_max);
  IF FOUND THEN
    RETURN 1;
  END IF;
  UPDATE pawl.inbox i SET status = 'Dead', token = NULL, locked_until_utc = NULL WHERE i.source = p_source AND i.message_id = p_message;
  RETURN 3;
END $f$;
