-- One timer. ?1 now, ?2 position, ?3 id, ?4 supplied, ?5 lane, ?6 topic,
-- ?7 correlation id, ?8 headers, ?9 payload, ?10 due or null for now, ?11 key.
INSERT INTO pawl.timer (id, timer_id, supplied, lane, topic, correlation_id, headers, payload, due_time, at, key, created_at)
VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, coalesce(?10, ?1), coalesce(?10, ?1), ?11, ?1)
