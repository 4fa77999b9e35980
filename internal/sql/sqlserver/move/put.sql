DELETE FROM pawl.move;
INSERT INTO pawl.move (id, role, phase, place, schema_name, prefix) VALUES (@id, @role, @phase, @place, @schema_name, @prefix)
