INSERT INTO pawl.move AS m (one, id, role, phase, place, schema_name, prefix, began_at) VALUES (1, @id, @role, @phase, @place, @schema_name, @prefix, @now)
ON CONFLICT (one) DO UPDATE SET id = excluded.id, role = excluded.role, phase = excluded.phase, place = excluded.place, schema_name = excluded.schema_name, prefix = excluded.prefix
 WHERE m.phase = @was
