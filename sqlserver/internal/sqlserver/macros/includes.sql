-- includes(headers, some)
CASE WHEN ISJSON({headers}) = 1 AND NOT EXISTS (
  SELECT 1 FROM (SELECT j."key", j.value COLLATE Latin1_General_100_BIN2 AS value FROM OPENJSON({some}) j) w WHERE NOT EXISTS (
    SELECT 1 FROM OPENJSON(CASE WHEN ISJSON({headers}) = 1 THEN {headers} ELSE N'{}' END) h WHERE h."key" = w."key" AND h.type = 1 AND h.value = w.value)) THEN 1 ELSE 0 END = 1
