-- The key of a message of the inbox, from its headers, as Go's package inbox writes
-- them; o_wrong says why there is none.
CREATE OR REPLACE FUNCTION pawl.inbox_key(p_headers text, OUT o_source text, OUT o_message text, OUT o_hash bytea, OUT o_wrong text) LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_hash text;
BEGIN
  o_source := p_headers::jsonb ->> 'pawl-inbox-source';
  o_message := p_headers::jsonb ->> 'pawl-inbox-message-id';
  v_hash := coalesce(p_headers::jsonb ->> 'pawl-inbox-hash', '');
  PERFORM pawl.check_text('source', o_source, 255, true), pawl.check_text('message id', o_message, 255, true);
  IF v_hash !~ '^([0-9a-fA-F][0-9a-fA-F]){0,64}$' THEN
    o_wrong := 'its hash is not hexadecimal';
  ELSE
    o_hash := nullif(decode(v_hash, 'hex'), '');
  END IF;
EXCEPTION
  WHEN invalid_parameter_value OR null_value_not_allowed THEN
    o_wrong := sqlerrm;
  WHEN data_exception THEN
    o_wrong := 'its headers are not JSON';
END $f$;
