-- New messages with ids of our own, and the runs they form. Arrays of equal
-- length, or null where no message has the field: $1 ids, $2 message ids,
-- $3 topics, $4 correlation ids, $5 headers, $6 payloads, $7 lanes, $8 due
-- times, $9 queues to wake; the runs: $10 lanes, $11 times (null: now),
-- $12 first ids, $13 lengths. Runs in a caller's transaction.
WITH m AS (
  INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at)
  SELECT * FROM unnest($1::int8[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::int8[], $8::timestamptz[]))
INSERT INTO pawl.outbox_ready (lane, at, lo, n)
SELECT r.lane, coalesce(r.at, clock_timestamp()), r.lo, r.n
  FROM pawl.outbox_wake($9::text[]) w, unnest($10::int8[], $11::timestamptz[], $12::int8[], $13::int8[]) r(lane, at, lo, n)
