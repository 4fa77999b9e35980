-- Refuse a transaction whose statements do not see what others committed meanwhile, which is
-- needed after waiting for a lock. p_what: what was to be done.
CREATE OR REPLACE FUNCTION pawl.check_isolation(p_what text) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF current_setting('transaction_isolation') NOT LIKE 'read %' THEN
    RAISE EXCEPTION '%: this transaction is %, and needs read committed', p_what, current_setting('transaction_isolation')
      USING ERRCODE = 'invalid_transaction_state', HINT = 'Begin it with BEGIN ISOLATION LEVEL READ COMMITTED, or do this in a transaction of its own.';
  END IF;
END $f$;
