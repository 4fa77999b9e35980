-- End the limit of a topic or queue: false if there was none.
CREATE OR REPLACE FUNCTION pawl.limit_remove(kind text, name text, reason text DEFAULT NULL) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_subject(kind, name), pawl.check_text('reason', reason, 1000, false);
  RETURN pawl.audit_note(gen_random_uuid(), current_user::text, 'unlimit', kind || ' ' || name, nullif(reason, ''), pawl.limit_end(kind, name)) > 0;
END $f$;
