-- Delete up to p_n entries of the audit trail that are older than p_age and a year: the
-- caller needs no right on the trail. Returns how many.
CREATE OR REPLACE FUNCTION pawl.audit_purge(p_age interval, p_n integer) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got bigint;
BEGIN
  DELETE FROM pawl.audit_trail t WHERE t.id = ANY (ARRAY(
    SELECT a.id FROM pawl.audit_trail a WHERE a.at < clock_timestamp() - greatest(p_age, interval '365 days') ORDER BY a.at LIMIT p_n));
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.audit_purge FROM PUBLIC;
