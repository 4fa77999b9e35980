DELETE FROM pawl.outbox_ready
 WHERE lo IN (SELECT r.lo FROM pawl.outbox_ready r
               WHERE r.lane = (SELECT p.lane FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = @topic AND p.ending) ORDER BY r.at, r.lo LIMIT @most)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id >= lo AND m.id < lo + n)
