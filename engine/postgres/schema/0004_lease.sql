-- Leases: see docs/leases.md. "pawl." stands for the configured schema and prefix.
--
-- Who locks a lease's row, and how, so that each waits only for whom it must:
--   guard            FOR KEY SHARE       until the caller's transaction ends
--   renew, release,  FOR NO KEY UPDATE   passes guards: a long guarded transaction
--   enrol, leave                         does not cost its holder the lease
--   acquire, force   FOR UPDATE          waits for guards: nobody takes a lease
--                                        between a guard and its commit (D-64)

-- One row per name. It is never deleted, so that its token never starts anew (D-60).
CREATE TABLE pawl.lease (
  name             text COLLATE "C" PRIMARY KEY,
  owner            text,
  lease_until_utc  timestamptz,
  last_granted_utc timestamptz,
  token            bigint NOT NULL,
  holder           uuid -- the one acquisition that holds it (D-61), or null
);

-- Who waits for a lease, in order of arrival. Waiters that stop saying that
-- they are alive drop out of the line.
CREATE TABLE pawl.lease_waiter (
  ticket      bigint GENERATED ALWAYS AS IDENTITY,
  name        text COLLATE "C" NOT NULL,
  id          uuid PRIMARY KEY,
  alive_until timestamptz NOT NULL
);
CREATE INDEX ON pawl.lease_waiter (name, ticket);

-- How many live waiters stand before p_id, or in all if it does not wait itself.
CREATE FUNCTION pawl.lease_ahead(p_name text, p_id uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  RETURN (SELECT count(*) FROM pawl.lease_waiter w
           WHERE w.name = p_name AND w.id IS DISTINCT FROM p_id AND w.alive_until > clock_timestamp()
             AND w.ticket < coalesce((SELECT m.ticket FROM pawl.lease_waiter m WHERE m.id = p_id), 9223372036854775807));
END $f$;

-- Take a lease that is free and for which nobody waits in front of p_holder.
-- Asking again under the same p_holder finds the lease it already has.
CREATE FUNCTION pawl.lease_acquire(p_name text, p_owner text, p_holder uuid, p_lease interval)
RETURNS TABLE (token bigint, lease_until_utc timestamptz) LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_column
DECLARE
  v_row pawl.lease;
BEGIN
  -- Where it is plainly held nobody locks: a lock would wait for the holder's guards.
  IF EXISTS (SELECT 1 FROM pawl.lease l WHERE l.name = p_name AND l.holder <> p_holder AND l.lease_until_utc > clock_timestamp()) THEN
    RETURN;
  END IF;
  SELECT * INTO v_row FROM pawl.lease l WHERE l.name = p_name FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO pawl.lease (name, token) VALUES (p_name, 0) ON CONFLICT (name) DO NOTHING;
    SELECT * INTO v_row FROM pawl.lease l WHERE l.name = p_name FOR UPDATE;
  END IF;
  -- The clock is read only now: a lease is whole however long the lock took (D-63).
  IF v_row.holder <> p_holder AND v_row.lease_until_utc > clock_timestamp() OR pawl.lease_ahead(p_name, p_holder) > 0 THEN
    RETURN;
  END IF;
  RETURN QUERY
  UPDATE pawl.lease l
     SET owner = p_owner, holder = p_holder, token = l.token + (l.holder IS DISTINCT FROM p_holder)::integer,
         lease_until_utc = clock_timestamp() + p_lease, last_granted_utc = clock_timestamp()
   WHERE l.name = p_name RETURNING l.token, l.lease_until_utc;
END $f$;

-- Lengthen a lease that is still p_holder's. No row: it is not.
CREATE FUNCTION pawl.lease_renew(p_name text, p_holder uuid, p_lease interval) RETURNS SETOF timestamptz LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR NO KEY UPDATE;
  RETURN QUERY
  UPDATE pawl.lease l SET lease_until_utc = clock_timestamp() + p_lease
   WHERE l.name = p_name AND l.holder = p_holder AND l.lease_until_utc > clock_timestamp() RETURNING l.lease_until_utc;
END $f$;

-- One row if the lease is p_holder's under this token, which it then stays
-- until the transaction ends. A plain query with the lock in it would check
-- the time before it waits for the lock.
CREATE FUNCTION pawl.lease_guard(p_name text, p_holder uuid, p_token bigint) RETURNS SETOF bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_row pawl.lease;
BEGIN
  SELECT * INTO v_row FROM pawl.lease l WHERE l.name = p_name FOR KEY SHARE;
  IF v_row.holder = p_holder AND v_row.token = p_token AND v_row.lease_until_utc > clock_timestamp() THEN
    RETURN NEXT v_row.token;
  END IF;
END $f$;

-- Take a lease from whoever has it, and raise the token. One row if anyone had it.
CREATE FUNCTION pawl.lease_force(p_name text) RETURNS SETOF bigint LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR UPDATE;
  RETURN QUERY
  UPDATE pawl.lease l SET owner = NULL, holder = NULL, lease_until_utc = NULL, token = l.token + 1
   WHERE l.name = p_name AND l.holder IS NOT NULL RETURNING l.token;
END $f$;

-- Enter the line, or say that one is still in it. The lock puts a release
-- wholly before or wholly after, so that none goes unnoticed.
CREATE FUNCTION pawl.lease_enrol(p_name text, p_id uuid, p_alive interval) RETURNS void LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR NO KEY UPDATE;
  INSERT INTO pawl.lease_waiter (name, id, alive_until)
  SELECT p_name, p_id, clock_timestamp() + p_alive
   WHERE NOT EXISTS (SELECT 1 FROM pawl.lease l WHERE l.name = p_name AND l.holder = p_id)
  ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until;
END $f$;

-- Leave the line.
CREATE FUNCTION pawl.lease_leave(p_name text, p_id uuid) RETURNS void LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR NO KEY UPDATE;
  DELETE FROM pawl.lease_waiter w WHERE w.id = p_id;
END $f$;

-- Wake the first in line if the lease is free, and say who that is.
CREATE FUNCTION pawl.lease_call(p_name text) RETURNS SETOF uuid LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_id uuid;
BEGIN
  IF EXISTS (SELECT 1 FROM pawl.lease l WHERE l.name = p_name AND l.lease_until_utc > clock_timestamp()) THEN
    RETURN;
  END IF;
  SELECT w.id INTO v_id FROM pawl.lease_waiter w WHERE w.name = p_name AND w.alive_until > clock_timestamp() ORDER BY w.ticket LIMIT 1;
  IF FOUND THEN
    PERFORM pawl.outbox_wake(ARRAY['lease/' || v_id]);
    RETURN NEXT v_id;
  END IF;
END $f$;
