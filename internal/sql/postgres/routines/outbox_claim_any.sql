-- Claim suspects of a queue, unless they are left out, or, where there are none, others: for programs that
-- claim themselves. p_rows and p_from are as in outbox_claim_queue.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_any(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz, p_suspects boolean DEFAULT true)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_suspects THEN
    RETURN QUERY SELECT * FROM pawl.outbox_claim_queue_suspects(p_queue, p_owner, p_lease, p_n);
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM pawl.outbox_claim_queue(p_queue, p_owner, p_lease, p_n, p_rows, p_from);
END $f$;
