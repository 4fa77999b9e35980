-- Replication slots: name, whether somebody is at it, how many bytes of the log
-- it keeps, and how many transactions ago the rows are that it keeps. $1 how many.
SELECT s.slot_name::text, s.active,
       coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, s.restart_lsn), 0)::int8,
       greatest(coalesce(age(s.xmin), 0), coalesce(age(s.catalog_xmin), 0))::int8
  FROM pg_replication_slots s WHERE NOT s.active ORDER BY s.slot_name LIMIT $1
