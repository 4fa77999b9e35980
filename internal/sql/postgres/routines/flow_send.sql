-- Send a flow a signal in the caller's transaction: it is kept until the flow asks for it.
CREATE OR REPLACE FUNCTION pawl.flow_send(flow uuid, name text, payload jsonb DEFAULT 'null') RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('flow', $1), pawl.check_text('name', $2, 255, true), pawl.check_null('payload', $3 IS NULL), pawl.check_bytes('payload', octet_length($3::text), 65536);
  CASE pawl.flow_put_signal($1, $2, convert_to($3::text, 'UTF8'))
    WHEN 0 THEN RAISE EXCEPTION 'flow % not found', $1 USING ERRCODE = 'no_data_found';
    WHEN 2 THEN RAISE EXCEPTION 'flow % is over', $1 USING ERRCODE = 'object_not_in_prerequisite_state';
    ELSE RETURN;
  END CASE;
END $f$;
