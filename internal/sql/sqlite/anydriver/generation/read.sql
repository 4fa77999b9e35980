SELECT lower(hex(g.id)) AS mark, g.number, coalesce(g.place, '') AS place, (SELECT s.last FROM pawl.outbox_sequence s) AS last FROM pawl.generation g
