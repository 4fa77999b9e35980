-- A statement that changes nothing but says so in rows affected: all that a
-- caller's transaction lets us see.
UPDATE pawl.timer SET supplied = supplied WHERE id = pawl.whereabouts(@timer_id, @carried)
