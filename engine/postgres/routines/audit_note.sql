-- Put p_n on the account of an operation, and return it.
CREATE OR REPLACE FUNCTION pawl.audit_note(p_id uuid, p_actor text, p_action text, p_target text, p_reason text, p_n bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_n > 0 THEN
    INSERT INTO pawl.audit_trail AS a (id, actor, action, target, reason, n) VALUES (p_id, p_actor, p_action, p_target, p_reason, p_n)
    ON CONFLICT (id) DO UPDATE SET n = a.n + excluded.n;
  END IF;
  RETURN p_n;
END $f$;
