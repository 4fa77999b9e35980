-- Record a failed attempt. With a token: of the message taken with it. Without: of one whose
-- transaction was rolled back, with the delivery. Returns 0 if the caller no longer holds it,
-- 1 if it may be tried again, 2 if it is dead: because p_final is true, or because attempts
-- are used up.
CREATE OR REPLACE FUNCTION pawl.inbox_fail_row(p_source text, p_message text, p_hash bytea, p_token uuid, p_error text, p_final boolean, p_max integer) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_status text;
BEGIN
  IF p_token IS NULL AND pawl.inbox_see(p_source, p_message, p_hash) <> 0 THEN
    RETURN 0;
  END IF;
  UPDATE pawl.inbox i SET attempts = i.attempts + (p_token IS NULL)::integer, last_error = p_error, token = NULL, locked_until_utc = NULL,
      status = CASE WHEN p_final OR p_max > 0 AND i.attempts + (p_token IS NULL)::integer >= p_max THEN 'Dead' ELSE 'Seen' END
   WHERE i.source = p_source AND i.message_id = p_message AND i.status IN ('Seen', 'Processing') AND (p_token IS NULL OR i.token = p_token)
  RETURNING i.status INTO v_status;
  RETURN CASE v_status WHEN 'Seen' THEN 1 WHEN 'Dead' THEN 2 ELSE 0 END;
END $f$;
