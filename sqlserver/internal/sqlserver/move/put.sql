DELETE FROM pawl.move WHERE phase = @was;
INSERT INTO pawl.move (id, role, phase, place, schema_name, prefix) SELECT @id, @role, @phase, @place, @schema_name, @prefix WHERE NOT EXISTS (SELECT 1 FROM pawl.move)
