SELECT s.slot_name::text AS name,
       coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, s.restart_lsn), 0)::int8 AS bytes,
       greatest(coalesce(age(s.xmin), 0), coalesce(age(s.catalog_xmin), 0))::int8 AS xids
  FROM pg_replication_slots s WHERE NOT s.active ORDER BY s.slot_name LIMIT @most
