-- An update that changes nothing, because in a caller's transaction only the number of rows
-- affected can be read.
UPDATE pawl.timer SET supplied = supplied WHERE id = pawl.whereabouts(@timer_id, @carried)
