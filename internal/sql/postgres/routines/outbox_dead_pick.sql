-- Failed messages after position p_after that a filter chooses, up to p_n of them, of p_look
-- that it reads: o_last is where to continue, null at the end. With p_discarded those that were discarded
-- no longer ago, once they had failed, by the act p_act unless that is null. Of a wait that a redrive of
-- its join replaced the discard is for good: both would send.
CREATE OR REPLACE FUNCTION pawl.outbox_dead_pick(p_ids bigint[], p_topic text, p_queue text, p_error text, p_since timestamptz, p_before timestamptz,
  p_after bigint, p_look integer, p_n bigint, p_fingerprint text DEFAULT NULL,
  p_discarded interval DEFAULT '0', p_act uuid DEFAULT NULL, OUT o_ids bigint[], OUT o_last bigint) LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
DECLARE
  v_status constant smallint := CASE WHEN p_discarded > interval '0' THEN 4 ELSE 3 END;
  v_seen bigint;
  v_high bigint;
BEGIN
  WITH look AS MATERIALIZED (
    (SELECT x.id, x.last_error, x.fingerprint, x.updated_at, x.failed_at, x.discard_id FROM pawl.outbox_exception x
      WHERE p_ids IS NULL AND x.status >= 3 AND x.status = v_status AND x.id > p_after ORDER BY x.id LIMIT p_look)
    UNION ALL
    (SELECT x.id, x.last_error, x.fingerprint, x.updated_at, x.failed_at, x.discard_id
       FROM (SELECT DISTINCT i FROM unnest(p_ids) i WHERE i > p_after ORDER BY i) u,
         LATERAL (SELECT y.id, y.last_error, y.fingerprint, y.updated_at, y.failed_at, y.discard_id FROM pawl.outbox_exception y WHERE y.id = u.i AND y.status = v_status OFFSET 0) x LIMIT p_look)),
  match AS MATERIALIZED (
    SELECT look.id FROM look CROSS JOIN LATERAL (SELECT x.topic, x.lane FROM pawl.outbox_message x WHERE x.id = look.id OFFSET 0) m LEFT JOIN pawl.outbox_lane l ON l.id = m.lane
     WHERE (p_topic IS NULL OR m.topic = p_topic) AND (p_queue IS NULL OR l.queue = p_queue)
       AND (p_error IS NULL OR position(p_error IN look.last_error) > 0) AND (p_fingerprint IS NULL OR pawl.print(look) = p_fingerprint)
       AND (p_since IS NULL OR coalesce(look.failed_at, look.updated_at) >= p_since) AND (p_before IS NULL OR coalesce(look.failed_at, look.updated_at) < p_before)
       AND (v_status = 3 OR look.failed_at IS NOT NULL AND look.updated_at >= clock_timestamp() - p_discarded AND (p_act IS NULL OR look.discard_id = p_act)
            AND NOT EXISTS (SELECT FROM pawl.outbox_join_wait w WHERE w.id = look.id AND w.replaced))
     ORDER BY look.id LIMIT p_n)
  SELECT coalesce((SELECT array_agg(match.id ORDER BY match.id) FROM match), '{}'), (SELECT count(*) FROM look), (SELECT max(look.id) FROM look)
    INTO o_ids, v_seen, v_high;
  IF cardinality(o_ids) >= p_n THEN
    o_last := o_ids[cardinality(o_ids)];
  ELSIF v_seen >= p_look THEN
    o_last := v_high;
  END IF;
END $f$;
