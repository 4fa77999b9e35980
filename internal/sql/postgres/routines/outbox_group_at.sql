-- When a message becomes ready that takes turns and is due at once: with an ordering key as ordering.At has it,
-- else with a fair key as ordering.FairAt does, in the 72 minutes before. Null: it takes none, or its headers cannot be read.
CREATE OR REPLACE FUNCTION pawl.outbox_group_at(p_headers text) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_key  text := nullif(p_headers::jsonb ->> 'pawl-ordering-key', '');
  v_fair text := nullif(p_headers::jsonb ->> 'pawl-fair-key', '');
BEGIN
  IF v_key IS NOT NULL THEN
    RETURN pawl.group_at(v_key);
  END IF;
  RETURN pawl.group_at(v_fair) - 4294967296 * interval '1 microsecond';
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END $f$;
