SELECT m.id AS id, m.created_at AS created_at, CASE WHEN json_valid(m.headers) THEN json_extract(m.headers, '$."pawl-ordering-key"') END AS "key",
       CASE WHEN json_valid(m.headers) THEN json_extract(m.headers, '$."pawl-fair-key"') END AS fair
  FROM pawl.outbox_message m WHERE m.id >= @lo AND m.id < @end ORDER BY m.id
