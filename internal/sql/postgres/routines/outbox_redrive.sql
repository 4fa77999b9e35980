-- Make failed messages ready again, with all attempts left, and note it in the audit trail.
-- Returns how many of them had failed.
CREATE OR REPLACE FUNCTION pawl.outbox_redrive(ids bigint[], reason text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_ids bigint[] := ARRAY(SELECT DISTINCT i FROM unnest($1) i WHERE i IS NOT NULL ORDER BY i);
BEGIN
  PERFORM pawl.check_isolation('redrive'), pawl.check_text('reason', $2, 1000, false);
  IF cardinality(v_ids) > 1000 THEN
    PERFORM pawl.check_refuse('ids', 'more than 1000');
  END IF;
  RETURN pawl.act_redrive(v_ids, NULL, current_user::text, left('messages ' || array_to_string(v_ids, ' '), 255), nullif($2, ''));
END $f$;
