-- includes(headers, some)
CASE WHEN json_valid({headers}) THEN NOT EXISTS (
  SELECT 1 FROM json_each({some}) w WHERE NOT EXISTS (SELECT 1 FROM json_each({headers}) h WHERE h.key = w.key AND h.type = 'text' AND h.value = w.value)) END
