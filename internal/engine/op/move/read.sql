SELECT g.id AS store, m.id, m.role, m.phase, m.place, m.schema_name, m.prefix FROM pawl.generation g LEFT JOIN pawl.move m ON m.one = g.one
