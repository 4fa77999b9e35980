-- others_due()
-- In a routine that claims messages which lie in groups: are others of the queue due, in the ranges of claim_regular's
-- p_from and p_to?
(p_to[1] IS NOT NULL OR EXISTS (
  SELECT FROM pawl.outbox_lane l, LATERAL (SELECT FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at >= p_from[1] AND r.at <= v_now AND r.suspect = 0 ORDER BY r.at LIMIT 1) due
   WHERE l.queue = p_queue AND l.kind = 0))
