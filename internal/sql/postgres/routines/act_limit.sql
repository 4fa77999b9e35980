-- Limit a topic, each topic of a pattern, or a queue for an operator, and note it: see limit_put and act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_limit(p_kind text, p_name text, p_concurrency integer, p_rate integer, p_period interval, p_burst integer, p_why text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('limit', pawl.limit_put(p_kind, p_name, p_concurrency, p_rate, p_period, p_burst, coalesce(p_actor, session_user::text), p_why));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_limit FROM PUBLIC;
