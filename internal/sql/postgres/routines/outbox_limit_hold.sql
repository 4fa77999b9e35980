-- Count what is claimed already against a limit.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_hold(p_kind text, p_name text) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  INSERT INTO pawl.outbox_limit_claim (kind, name, id)
  SELECT CASE p_kind WHEN 'queue' THEN 'queue' ELSE 'topic' END, CASE p_kind WHEN 'queue' THEN q.queue ELSE m.topic END, m.id
    FROM pawl.outbox_claim c JOIN pawl.outbox_lane q ON q.id = c.lane JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
   WHERE CASE p_kind WHEN 'queue' THEN q.queue = p_name WHEN 'topic' THEN m.topic = p_name ELSE pawl.falls_under(p_name, m.topic) END
  ON CONFLICT DO NOTHING;
END $f$;
