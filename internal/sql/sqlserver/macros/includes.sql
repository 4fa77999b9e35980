-- includes(headers, some)
CASE WHEN ISJSON({headers}) = 1 AND NOT EXISTS (
  SELECT 1 FROM OPENJSON({some}) w WHERE NOT EXISTS (
    SELECT 1 FROM OPENJSON(CASE WHEN ISJSON({headers}) = 1 THEN {headers} ELSE N'{}' END) h WHERE h."key" = w."key" AND h.type = 1 AND h.value = w.value)) THEN 1 ELSE 0 END = 1
