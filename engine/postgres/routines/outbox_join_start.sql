-- Start a join in the caller's transaction. Starting one with a known id adds
-- nothing. With a deadline, a message of topic wait_topic ends the join then.
CREATE OR REPLACE FUNCTION pawl.outbox_join_start(expected_steps integer, grouping_key text DEFAULT NULL, metadata text DEFAULT NULL, deadline_utc timestamptz DEFAULT NULL,
  join_id uuid DEFAULT NULL, wait_topic text DEFAULT 'join.wait', queue text DEFAULT 'default')
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_join uuid := coalesce(join_id, pawl.outbox_join_new_id());
BEGIN
  IF coalesce(expected_steps, 0) < 1 THEN
    RAISE EXCEPTION 'expected_steps: less than 1' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF length(grouping_key) > 255 THEN
    RAISE EXCEPTION 'grouping_key: 255 characters at most' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF deadline_utc < '1970-01-01 UTC' THEN
    deadline_utc := '1970-01-01 UTC'; -- it has passed; what reads it takes the year 1 for none
  END IF;
  INSERT INTO pawl.outbox_join AS j (join_id, grouping_key, expected_steps, metadata, deadline_utc)
  VALUES (v_join, nullif(grouping_key, ''), expected_steps, metadata, deadline_utc) ON CONFLICT DO NOTHING;
  IF FOUND AND deadline_utc IS NOT NULL THEN
    INSERT INTO pawl.outbox_join_wait (id, join_id)
    SELECT pawl.outbox_position(pawl.outbox_enqueue(topic => wait_topic, payload => jsonb_build_object('JoinId', v_join), due_time_utc => deadline_utc, queue => queue)), v_join;
  END IF;
  RETURN v_join;
END $f$;
