INSERT INTO pawl.generation AS g (one, id, number, since, place) VALUES (1, randomblob(16), max(1, @now / 1000 - 1704067200000), @now, @place)
ON CONFLICT (one) DO UPDATE SET id = excluded.id, number = max(g.number + 1, excluded.number), since = excluded.since, place = excluded.place
