-- Does a pending join count on one of these messages?
CREATE OR REPLACE FUNCTION pawl.outbox_join_needs(p_lo bigint, p_n integer) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN EXISTS (
    SELECT FROM (SELECT m.join_id FROM pawl.outbox_join_member m WHERE m.id >= p_lo AND m.id < p_lo + p_n OFFSET 0) m
      JOIN pawl.outbox_join j ON j.join_id = m.join_id WHERE j.status = 0);
END $f$;
