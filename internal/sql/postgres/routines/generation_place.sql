-- Identifies this database: the cluster's identity and its timeline, which grows with every
-- promotion and recovery to a point in time; and how much is safely written to its log. Null
-- on a standby. A server that does not report these, as some that only implement PostgreSQL's
-- protocol, is identified by its start time.
CREATE OR REPLACE FUNCTION pawl.generation_place(OUT o_place text, OUT o_written bigint) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF pg_is_in_recovery() THEN
    RETURN;
  END IF;
  BEGIN
    SELECT c.system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8), pg_current_wal_flush_lsn() - '0/0'::pg_lsn
      INTO o_place, o_written FROM pg_control_system() c;
  EXCEPTION WHEN OTHERS THEN
    o_place := 'since ' || extract(epoch FROM pg_postmaster_start_time());
  END;
END $f$;
