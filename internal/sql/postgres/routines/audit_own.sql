-- Record this role's action on p_target through a routine of its own, unless p_done is
-- false, and return p_done.
CREATE OR REPLACE FUNCTION pawl.audit_own(p_action text, p_target text, p_done boolean) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.audit_note(gen_random_uuid(), current_user::text, p_action, p_target, NULL, p_done::integer);
  RETURN p_done;
END $f$;
