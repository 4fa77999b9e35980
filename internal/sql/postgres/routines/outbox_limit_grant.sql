-- Let limits decide about the messages that a claim has met in open lanes, and return those that do not stay
-- claimed. away: there is no room for them, and they are moved to the lanes of their topics' limits. A
-- limit has no room while messages of its topic wait in a lane, of whichever queue: they come first. The
-- lane is registered, by which other queues see that they share the limit. back: another claim holds their
-- limit just now, and they are put back where they were. (While these were moved as well, each claim met some
-- in lanes, held limits, and moved more: of 8 processes with a limit on each of 8 topics 2 % was left.)
-- Suspects have no room here, nor has topic p_apart. The rest is counted.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_grant(p_what text, p_queue text, p_owner uuid, p_runs pawl.outbox_held[], p_held boolean, p_apart text, OUT away bigint[], OUT back bigint[]) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_topics   text[] := ARRAY(SELECT l.name FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.pattern = '' UNION SELECT p_apart WHERE p_apart IS NOT NULL);
  v_patterns text[] := ARRAY(SELECT l.name FROM pawl.outbox_limit l WHERE l.kind = 'each'); -- of limits that hold for each of their topics
  v_met      pawl.outbox_counted[] := ARRAY(
    SELECT (t.topic, t.ids)::pawl.outbox_counted FROM (SELECT m.topic COLLATE "C" AS topic, array_agg(m.id ORDER BY h.nr, m.id) AS ids FROM pawl.held_messages(p_runs) GROUP BY m.topic COLLATE "C") t
     WHERE t.topic = ANY (v_topics) OR EXISTS (SELECT FROM unnest(v_patterns) p WHERE pawl.falls_under(p, t.topic)) ORDER BY t.topic);
  v_room     integer[];
  i          integer;
BEGIN
  IF cardinality(v_met) = 0 THEN
    RETURN;
  END IF;
  v_room := pawl.outbox_limit_room('topic', ARRAY(SELECT m.name FROM unnest(v_met) m), ARRAY(
    SELECT CASE WHEN p_what = 'suspects' OR m.name IS NOT DISTINCT FROM p_apart OR (
             SELECT true FROM pawl.outbox_lane l WHERE l.topic = m.name AND l.kind = 3 AND EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= clock_timestamp()) LIMIT 1)
           THEN 0 ELSE cardinality(m.ids) END FROM unnest(v_met) m), NOT p_held);
  PERFORM pawl.outbox_limit_use('topic', array_agg((v_met[u.nr].name, v_met[u.nr].ids[:u.n])::pawl.outbox_counted)) FROM unnest(v_room) WITH ORDINALITY u(n, nr) WHERE u.n > 0;
  PERFORM pawl.outbox_limit_lane(p_queue, p_runs[1].priority, v_met[u.nr].name) FROM unnest(v_room) WITH ORDINALITY u(n, nr)
    WHERE u.n > 0 AND NOT EXISTS (SELECT FROM pawl.outbox_lane l WHERE l.topic = v_met[u.nr].name AND l.kind = 3 AND l.queue = p_queue);
  FOR i IN SELECT u.nr FROM unnest(v_room) WITH ORDINALITY u(n, nr) WHERE u.n IS NULL OR u.n < cardinality(v_met[u.nr].ids) LOOP
    IF v_room[i] IS NULL THEN
      back := array_cat(back, v_met[i].ids);
      PERFORM pawl.outbox_divert(p_queue, p_owner, v_met[i].ids, NULL);
    ELSE
      away := array_cat(away, v_met[i].ids[v_room[i] + 1:]);
      PERFORM pawl.outbox_divert(p_queue, p_owner, v_met[i].ids[v_room[i] + 1:], v_met[i].name);
    END IF;
  END LOOP;
END $f$;
