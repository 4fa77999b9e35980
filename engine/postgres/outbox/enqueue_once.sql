-- Messages of which some bring an id of their own. $1 … $9 as in enqueue;
-- $10 supplied, $11 the position that a made id carries, or 0. A known id adds
-- nothing, also one whose first enqueue is still uncommitted: the unique keys
-- wait for it. One time for all, whichever is inserted first: they come in order of
-- their ids. Rows affected are the new messages. Runs in a caller's transaction.
WITH m AS (
  INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at, supplied)
  SELECT u.id, u.mid, u.topic, u.corr, u.headers, u.payload, u.lane, u.due, u.supplied
    FROM unnest($1::int8[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::int8[], $8::timestamptz[], $10::bool[], $11::int8[])
      u(id, mid, topic, corr, headers, payload, lane, due, supplied, position)
   WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_message x WHERE x.id = u.position AND x.message_id = u.mid)
  ON CONFLICT DO NOTHING RETURNING id, lane, due_at)
INSERT INTO pawl.outbox_ready (lane, at, lo, n)
SELECT m.lane, coalesce(m.due_at, t.now), m.id, 1 FROM pawl.outbox_wake($9::text[]) w, clock_timestamp() t(now), m
