-- Send a message when a join has ended. Returns the id of the wait. The message is checked
-- now: later there is no caller to return the error to.
CREATE OR REPLACE FUNCTION pawl.outbox_join_wait(join_id uuid, on_complete_topic text DEFAULT NULL, on_complete_payload text DEFAULT NULL, on_fail_topic text DEFAULT NULL,
  on_fail_payload text DEFAULT NULL, fail_if_any_step_failed boolean DEFAULT true, wait_topic text DEFAULT 'join.wait', queue text DEFAULT 'default')
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_wait uuid;
  v_most text := coalesce(current_setting('pawl_sql.max_payload', true), '');
BEGIN
  PERFORM pawl.check_id('join id', join_id), pawl.check_null('fail if any step failed', fail_if_any_step_failed IS NULL),
          pawl.check_text('topic', on_complete_topic, 255, on_complete_topic <> ''), pawl.check_payload(coalesce(on_complete_payload, '')),
          pawl.check_text('topic', on_fail_topic, 255, on_fail_topic <> ''), pawl.check_payload(coalesce(on_fail_payload, ''));
  IF NOT EXISTS (SELECT FROM pawl.outbox_join j WHERE j.join_id = join_id) THEN
    RAISE EXCEPTION 'join % not found', join_id USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM set_config('pawl_sql.max_payload', '1073741823', true); -- it is larger than what it holds
  v_wait := pawl.outbox_enqueue(topic => wait_topic, queue => queue, payload => jsonb_strip_nulls(jsonb_build_object('JoinId', join_id,
    'FailIfAnyStepFailed', fail_if_any_step_failed, 'OnCompleteTopic', on_complete_topic, 'OnCompletePayload', on_complete_payload,
    'OnFailTopic', on_fail_topic, 'OnFailPayload', on_fail_payload)));
  PERFORM set_config('pawl_sql.max_payload', v_most, true);
  INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES (pawl.outbox_position(v_wait), join_id);
  RETURN v_wait;
END $f$;
