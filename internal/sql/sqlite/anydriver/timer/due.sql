SELECT pawl.columns(d), coalesce(d.mine, 0) OR d.supplied = 1 AND EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.message_id = d.timer_id AND m.supplied = 1) AS known,
       coalesce(NOT d.mine, 0) AS taken, d.timer_id AS timer_id, d.supplied AS supplied
  FROM (SELECT t.id, t.lane, t.at, t.supplied, t.timer_id, (SELECT m.message_id = t.timer_id FROM pawl.outbox_message m WHERE m.id = t.id) AS mine
          FROM pawl.timer t INDEXED BY pawl.timer_pending WHERE t.status = 0 AND t.at <= @now ORDER BY t.at, t.id LIMIT @most) d
