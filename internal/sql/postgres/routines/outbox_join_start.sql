-- Start a join in the caller's transaction. Starting one with a known id adds
-- nothing. With a deadline, a message of topic wait_topic ends the join then.
CREATE OR REPLACE FUNCTION pawl.outbox_join_start(expected_steps integer, grouping_key text DEFAULT NULL, metadata text DEFAULT NULL, deadline_utc timestamptz DEFAULT NULL,
  join_id uuid DEFAULT NULL, wait_topic text DEFAULT 'join.wait', queue text DEFAULT 'default')
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_join     uuid := coalesce(nullif(join_id, '00000000-0000-0000-0000-000000000000'), pawl.outbox_join_new_id());
  v_deadline timestamptz := pawl.check_due('deadline', deadline_utc);
BEGIN
  PERFORM pawl.check_null('expected steps', expected_steps IS NULL);
  IF expected_steps < 1 THEN
    PERFORM pawl.check_refuse('expected steps', 'not within 1 to 2147483647');
  END IF;
  PERFORM pawl.check_text('grouping key', grouping_key, 255, false), pawl.check_bytes('metadata', octet_length(metadata), 1048576),
          pawl.check_message(wait_topic, '', NULL, queue, 0);
  IF deadline_utc < timestamptz '1970-01-01 00:00:00+00' THEN
    v_deadline := timestamptz '1970-01-01 00:00:00+00'; -- it has passed; what reads it takes the year 1 for none
  END IF;
  INSERT INTO pawl.outbox_join AS j (join_id, grouping_key, expected_steps, metadata, deadline_utc)
  VALUES (v_join, nullif(grouping_key, ''), expected_steps, metadata, v_deadline) ON CONFLICT DO NOTHING;
  IF FOUND AND v_deadline IS NOT NULL THEN
    INSERT INTO pawl.outbox_join_wait (id, join_id)
    SELECT pawl.outbox_position(pawl.outbox_enqueue(topic => wait_topic, payload => jsonb_build_object('JoinId', v_join), due_time_utc => v_deadline, queue => queue)), v_join;
  END IF;
  RETURN v_join;
END $f$;
