-- Pause a topic or queue for an operator, and note it: see act_cancel. Returns 1, or 0 if it is paused.
CREATE OR REPLACE FUNCTION pawl.act_pause(p_kind text, p_name text, p_lane bigint, p_why text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  INSERT INTO pawl.outbox_pause AS p (kind, name, lane, reason, actor) VALUES (p_kind, p_name, p_lane, p_why, coalesce(p_actor, session_user::text))
  ON CONFLICT (kind, name) DO UPDATE SET ending = false, at = excluded.at, reason = excluded.reason, actor = excluded.actor WHERE p.ending;
  RETURN pawl.noted('pause', FOUND::integer);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_pause FROM PUBLIC;
