-- Add p_n to the entry of an action, and return it. Callers add to the trail only through
-- this, under the name that their session logged in by, and change none of its entries: an action that
-- takes several transactions adds to its own, of the same user, for an hour. Without an id nothing is
-- recorded.
CREATE OR REPLACE FUNCTION pawl.audit_note(p_id uuid, p_actor text, p_action text, p_target text, p_reason text, p_n bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_n > 0 AND p_id IS NOT NULL THEN
    INSERT INTO pawl.audit_trail AS a (id, actor, action, target, reason, n) VALUES (p_id, p_actor, p_action, p_target, p_reason, p_n)
    ON CONFLICT (id) DO UPDATE SET n = a.n + excluded.n
     WHERE (a.actor, a.db_user, a.action, a.target) = (excluded.actor, excluded.db_user, excluded.action, excluded.target) AND a.at > clock_timestamp() - interval '1 hour';
    IF NOT FOUND THEN
      INSERT INTO pawl.audit_trail (id, actor, action, target, reason, n) VALUES (gen_random_uuid(), p_actor, p_action, p_target, p_reason, p_n);
    END IF;
  END IF;
  RETURN p_n;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.audit_note FROM PUBLIC;
