SELECT p.gid AS name, p.owner::text AS owner, pawl.micros(@now - p.prepared) AS micros
  FROM pg_prepared_xacts p WHERE p.database = current_database() ORDER BY p.prepared LIMIT @most
