INSERT INTO pawl.move (one, id, role, phase, place, schema_name, prefix, began_at) VALUES (1, @id, @role, @phase, @place, @schema_name, @prefix, @now)
ON CONFLICT (one) DO UPDATE SET id = excluded.id, role = excluded.role, phase = excluded.phase, place = excluded.place, schema_name = excluded.schema_name, prefix = excluded.prefix
