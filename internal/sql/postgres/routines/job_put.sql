-- Store a job, a new one or in place of the one of its name, and return whether that changes anything.
-- The scheduler of a Go program reads the schedule and computes the next run: until then the job has
-- none, and where it cannot, last_error says why.
CREATE OR REPLACE FUNCTION pawl.job_put(job_name text, schedule text, topic text, payload text DEFAULT '', zone text DEFAULT 'UTC', headers jsonb DEFAULT NULL, queue text DEFAULT 'default',
  priority integer DEFAULT 0, misfire text DEFAULT 'once', misfire_limit integer DEFAULT 10, overlap text DEFAULT 'allow')
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_misfire integer := array_position(ARRAY['once', 'none', 'all'], misfire) - 1;
  v_overlap integer := array_position(ARRAY['allow', 'skip'], overlap) - 1;
  v_headers text;
BEGIN
  PERFORM pawl.check_text('job name', job_name, 255, true), pawl.check_text('schedule', schedule, 256, true), pawl.check_text('zone', zone, 255, true),
          pawl.check_message(topic, payload, NULL, queue, priority), pawl.check_headers(headers);
  IF schedule !~ '^(@\w+( \S+)?|\S+( +\S+){4,5})$' THEN
    PERFORM pawl.check_refuse('schedule', 'neither five or six fields nor a descriptor');
  ELSIF NOT pawl.job_zone_known(zone) THEN
    PERFORM pawl.check_refuse('zone', 'unknown');
  ELSIF headers ? 'pawl-expires' THEN
    PERFORM pawl.check_refuse('headers', 'pawl-expires: runs of a job do not expire');
  ELSIF v_misfire IS NULL THEN
    PERFORM pawl.check_refuse('misfire policy', 'neither once, none nor all');
  ELSIF v_overlap IS NULL THEN
    PERFORM pawl.check_refuse('overlap policy', 'neither allow nor skip');
  ELSIF misfire_limit BETWEEN 1 AND 1000 IS NOT TRUE THEN
    PERFORM pawl.check_refuse('misfire limit', 'not within 1 to 1000');
  END IF;
  v_headers := pawl.check_headers(coalesce(headers, '{}') - 'pawl-job-owner' || jsonb_build_object('pawl-job', job_name));
  INSERT INTO pawl.job AS j (id, name, topic, payload, headers, lane, schedule, zone, misfire, misfire_limit, overlap, spread, shift, next_time, due_at)
  VALUES (gen_random_uuid(), job_name, topic, convert_to(payload, 'UTF8'), v_headers, pawl.outbox_lane_id(queue, priority::smallint), schedule, zone, v_misfire, misfire_limit, v_overlap, 0, 0, NULL, clock_timestamp())
  ON CONFLICT (name) DO UPDATE SET
    topic = excluded.topic, payload = excluded.payload, headers = excluded.headers, lane = excluded.lane, schedule = excluded.schedule, zone = excluded.zone,
    misfire = excluded.misfire, misfire_limit = excluded.misfire_limit, overlap = excluded.overlap, spread = 0, shift = 0,
    next_time = CASE WHEN (j.schedule, j.zone) = (excluded.schedule, excluded.zone) THEN j.next_time END,
    due_at = CASE WHEN NOT j.enabled THEN NULL WHEN (j.schedule, j.zone) = (excluded.schedule, excluded.zone) AND j.next_time IS NOT NULL THEN j.next_time ELSE excluded.due_at END,
    last_error = CASE WHEN (j.schedule, j.zone) = (excluded.schedule, excluded.zone) THEN j.last_error END,
    version = j.version + 1, updated_at = clock_timestamp()
  WHERE (j.topic, j.payload, j.headers::jsonb, j.lane, j.schedule, j.zone, j.misfire, j.misfire_limit, j.overlap, j.spread)
        IS DISTINCT FROM (excluded.topic, excluded.payload, excluded.headers::jsonb, excluded.lane, excluded.schedule, excluded.zone, excluded.misfire, excluded.misfire_limit, excluded.overlap, 0);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM pawl.outbox_wake(ARRAY['']);
  RETURN pawl.audit_own('put', 'job ' || job_name, true);
END $f$;
