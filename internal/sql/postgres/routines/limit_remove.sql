-- End the limit of a topic or queue: false if there was none.
CREATE OR REPLACE FUNCTION pawl.limit_remove(kind text, name text, reason text DEFAULT NULL) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_subject(kind, name), pawl.check_text('reason', reason, 1000, false);
  RETURN pawl.act_unlimit(kind, name, NULL, current_user::text, kind || ' ' || name, nullif(reason, '')) > 0;
END $f$;
