-- Due timers, first due first; whether the outbox has their message, and whether it
-- has another one at their position. ?1 now, ?2 how many.
SELECT d.id, d.lane, d.at, coalesce(d.mine, 0) OR d.supplied = 1 AND EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.message_id = d.timer_id AND m.supplied = 1),
       coalesce(NOT d.mine, 0)
  FROM (SELECT t.id, t.lane, t.at, t.supplied, t.timer_id, (SELECT m.message_id = t.timer_id FROM pawl.outbox_message m WHERE m.id = t.id) AS mine
          FROM pawl.timer t INDEXED BY pawl.timer_pending WHERE t.status = 0 AND t.at <= ?1 ORDER BY t.at, t.id LIMIT ?2) d
