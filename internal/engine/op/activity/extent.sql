SELECT coalesce((SELECT min(m.minute) FROM pawl.activity m WHERE m.grain = 1), 0) AS first_minute,
       coalesce((SELECT min(h.minute) FROM pawl.activity h WHERE h.grain = 60), 0) AS first_hour,
       coalesce((SELECT max(l.minute) FROM pawl.activity l WHERE l.grain = 60), 0) AS last_hour
