-- One message. ?1 now, ?2 id, ?3 message_id, ?4 supplied, ?5 lane, ?6 topic, ?7 correlation_id, ?8 headers, ?9 payload, ?10 due.
INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, correlation_id, headers, payload, created_at, due_at)
VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?1, ?10)
