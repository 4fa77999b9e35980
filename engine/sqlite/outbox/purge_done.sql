-- Done runs that are old enough, among the ?3 lowest: looking only at the low
-- end bounds the work without an index. ?1 now, ?2 processed before.
SELECT lo, n FROM (SELECT lo, n, processed_at FROM pawl.outbox_done ORDER BY lo LIMIT ?3) WHERE processed_at < ?2
