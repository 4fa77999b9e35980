-- The inbox: see docs/inbox.md. The seed's Inbox, keyed by source and message id.

CREATE TABLE pawl.inbox (
  source           text COLLATE "C" NOT NULL,
  message_id       text COLLATE "C" NOT NULL,
  hash             bytea,
  first_seen_utc   timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_utc    timestamptz NOT NULL DEFAULT clock_timestamp(),
  processed_utc    timestamptz,
  deliveries       bigint NOT NULL DEFAULT 1, -- how often it was seen
  attempts         integer NOT NULL DEFAULT 0, -- how often its handler ran, as far as that is known
  mismatches       integer NOT NULL DEFAULT 0, -- deliveries with another hash
  status           text NOT NULL DEFAULT 'Seen' CHECK (status IN ('Seen', 'Processing', 'Done', 'Dead')),
  last_error       text,
  token            uuid,        -- of the attempt under way
  locked_until_utc timestamptz, -- end of its lease
  PRIMARY KEY (source, message_id)
) WITH (fillfactor = 80);
CREATE INDEX ON pawl.inbox (last_seen_utc) WHERE status IN ('Seen', 'Processing');
CREATE INDEX ON pawl.inbox (processed_utc) WHERE status = 'Done';
CREATE INDEX ON pawl.inbox (source, message_id) WHERE status = 'Dead';

-- Note a delivery. Returns 0 if the message may be processed, 2 done, 3 dead,
-- 4 another hash than the first time, 5 somebody is at it. A hash that was
-- missing is filled in. A row is locked from here on: nobody else decides.
CREATE FUNCTION pawl.inbox_see(p_source text, p_message text, p_hash bytea, p_token uuid DEFAULT NULL) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v pawl.inbox;
BEGIN
  INSERT INTO pawl.inbox AS i (source, message_id, hash) VALUES (p_source, p_message, p_hash)
  ON CONFLICT (source, message_id) DO UPDATE SET last_seen_utc = clock_timestamp(), deliveries = i.deliveries + 1,
    hash = coalesce(i.hash, excluded.hash), mismatches = i.mismatches + coalesce((i.hash <> excluded.hash)::integer, 0)
  RETURNING * INTO v;
  RETURN CASE WHEN v.hash <> p_hash THEN 4
              WHEN v.status = 'Done' THEN 2
              WHEN v.status = 'Dead' THEN 3
              WHEN v.status = 'Processing' AND v.token IS DISTINCT FROM p_token AND v.locked_until_utc > clock_timestamp() THEN 5
              ELSE 0 END;
END $f$;

-- Take a message to process it: 1 if it is the caller's now, otherwise as
-- inbox_see says. Without a lease it is the transaction that holds it: a second
-- delivery finds the lock taken and need not wait for the outcome. With one it
-- is the token's until the lease ends, and the attempt counts at once, so that a
-- message that kills its processor ends as dead.
CREATE FUNCTION pawl.inbox_take(p_source text, p_message text, p_hash bytea, p_token uuid, p_lease interval, p_max integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_verdict integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('pawl.inbox' || length(p_source) || '/' || p_source || p_message, 0)) THEN
    RETURN 5;
  END IF;
  v_verdict := pawl.inbox_see(p_source, p_message, p_hash, p_token);
  IF v_verdict <> 0 THEN
    RETURN v_verdict;
  END IF;
  IF p_lease IS NULL THEN
    RETURN 1;
  END IF;
  UPDATE pawl.inbox i SET attempts = i.attempts + 1, token = p_token, locked_until_utc = clock_timestamp() + p_lease, status = 'Processing'
   WHERE i.source = p_source AND i.message_id = p_message AND (p_max = 0 OR i.attempts < p_max);
  IF FOUND THEN
    RETURN 1;
  END IF;
  UPDATE pawl.inbox i SET status = 'Dead', token = NULL, locked_until_utc = NULL WHERE i.source = p_source AND i.message_id = p_message;
  RETURN 3;
END $f$;

-- An attempt failed. With a token: the taken one. Without: one whose transaction
-- was rolled back, delivery and all. Returns 0 if it is no longer the caller's,
-- 1 it may be tried again, 2 it is dead: because p_final says so, or because
-- attempts are used up.
CREATE FUNCTION pawl.inbox_fail(p_source text, p_message text, p_hash bytea, p_token uuid, p_error text, p_final boolean, p_max integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_status text;
BEGIN
  IF p_token IS NULL AND pawl.inbox_see(p_source, p_message, p_hash) <> 0 THEN
    RETURN 0;
  END IF;
  UPDATE pawl.inbox i SET attempts = i.attempts + (p_token IS NULL)::integer, last_error = p_error, token = NULL, locked_until_utc = NULL,
      status = CASE WHEN p_final OR p_max > 0 AND i.attempts + (p_token IS NULL)::integer >= p_max THEN 'Dead' ELSE 'Seen' END
   WHERE i.source = p_source AND i.message_id = p_message AND i.status IN ('Seen', 'Processing') AND (p_token IS NULL OR i.token = p_token)
  RETURNING i.status INTO v_status;
  RETURN CASE v_status WHEN 'Seen' THEN 1 WHEN 'Dead' THEN 2 ELSE 0 END;
END $f$;
