-- Discarded messages that are old enough, among the ?3 lowest. ?1 now, ?2 discarded before.
SELECT id, 1 FROM (SELECT id, updated_at FROM pawl.outbox_exception WHERE status >= 3 AND status = 4 ORDER BY id LIMIT ?3) WHERE updated_at < ?2
