-- The advisory lock of a message of the inbox.
CREATE OR REPLACE FUNCTION pawl.inbox_lock_key(p_source text, p_message text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN hashtextextended('pawl.inbox' || length(p_source) || '/' || p_source || p_message, 0);
END $f$;
