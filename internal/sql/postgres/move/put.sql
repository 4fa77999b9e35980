INSERT INTO pawl.move AS m (id, role, phase, place, schema_name, prefix) VALUES (@id, @role, @phase, @place, @schema_name, @prefix)
ON CONFLICT (one) DO UPDATE SET id = excluded.id, role = excluded.role, phase = excluded.phase, place = excluded.place, schema_name = excluded.schema_name, prefix = excluded.prefix
 WHERE m.phase = @was
