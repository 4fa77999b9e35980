-- Has timer ?2 been scheduled before? It may lie at ?3, the position that it carries. ?1 now.
-- A statement that changes nothing but says so in rows affected: all that a
-- caller's transaction lets us see.
UPDATE pawl.timer SET supplied = supplied
 WHERE id = coalesce((SELECT id FROM pawl.timer WHERE id = ?3 AND timer_id = ?2), (SELECT id FROM pawl.timer WHERE timer_id = ?2 AND supplied = 1))
