-- Due timers, first due first, and whether the outbox has their message. ?1 now,
-- ?2 how many.
SELECT t.id, t.lane, t.at, EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id = t.id)
    OR t.supplied = 1 AND EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.message_id = t.timer_id AND m.supplied = 1)
  FROM pawl.timer t INDEXED BY pawl.timer_pending WHERE t.status = 0 AND t.at <= ?1 ORDER BY t.at, t.id LIMIT ?2
