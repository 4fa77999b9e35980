DELETE FROM pawl.outbox_limit AS l
 WHERE l.pattern <> '' AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit_claim u WHERE u.kind = 'topic' AND u.name = l.name)
   AND (l.rate IS NULL OR l.next_at <= @now - (l.burst - 1) * l.period / l.rate)
