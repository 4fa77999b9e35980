-- How many messages of each of these limits may be claimed now, at most as p_wants says of each, or as
-- many if there is no limit. Claims under one limit take turns: each holds it until its transaction ends.
-- Of one that another holds the answer is null if p_wait is false, and 0 after a long wait, since that one may
-- be part of a transaction that does more. p_names are in order, so that no two wait for each other; one of
-- which none is wanted is not locked. Whoever asks for one checks first that it is not full (full_limit):
-- processes that wait for a place would keep those that have one from using it again, and make each of
-- their polls a commit that has something to write. Messages that are
-- no longer claimed are left out when others take their place, or when there are so many rows that each
-- claim would count them for long. A topic gets a row of its own here if a limit for each topic of a
-- pattern holds for it: that of the longest pattern.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_room(p_kind text, p_names text[], p_wants integer[], p_wait boolean) RETURNS integer[] LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET lock_timeout = '500ms' AS $f$
DECLARE
  v_locked text[] := '{}';
  v_room   integer[] := '{}';
  v_n      integer;
  v_from   timestamptz; -- when the first of those could have been claimed, by the rate
  l        record;
BEGIN
  IF p_kind = 'topic' AND EXISTS (SELECT FROM pawl.outbox_limit e WHERE e.kind = 'each') THEN
    PERFORM pawl.outbox_limit_topic(u.name) FROM unnest(p_names) u(name) WHERE NOT EXISTS (SELECT FROM pawl.outbox_limit x WHERE x.kind = 'topic' AND x.name = u.name);
  END IF;
  FOR i IN 1 .. cardinality(p_names) LOOP
    CONTINUE WHEN p_wants[i] = 0;
    PERFORM FROM pawl.outbox_limit y WHERE y.kind = p_kind AND y.name = p_names[i] FOR UPDATE SKIP LOCKED;
    -- In a block that may fail only if it has to wait: what that locks and the claim then updates has two
    -- transactions, which everybody who reads the row reads, too (an eighth of the server's time).
    IF NOT FOUND AND p_wait THEN
      BEGIN
        PERFORM FROM pawl.outbox_limit y WHERE y.kind = p_kind AND y.name = p_names[i] FOR UPDATE;
      EXCEPTION WHEN lock_not_available THEN
        CONTINUE;
      END;
    END IF;
    IF FOUND THEN
      v_locked := v_locked || p_names[i];
    END IF;
  END LOOP;
  FOR l IN -- a statement of its own, which sees what others have claimed before the lock
    SELECT u.want, u.name, x.name IS NOT NULL AS limited, x.concurrency, x.rate, x.period, x.burst, x.next_at, clock_timestamp() AS now, c.held, c.rows
      FROM unnest(p_names, p_wants) WITH ORDINALITY u(name, want, nr)
      LEFT JOIN LATERAL (SELECT * FROM pawl.outbox_limit y WHERE y.kind = p_kind AND y.name = u.name OFFSET 0) x ON true
     CROSS JOIN LATERAL (SELECT coalesce(sum(1 + coalesce(cardinality(z.more), 0)), 0) AS held, count(*) AS rows FROM pawl.outbox_limit_claim z WHERE z.kind = p_kind AND z.name = u.name AND x.concurrency IS NOT NULL OFFSET 0) c
     ORDER BY u.nr LOOP
    v_n := l.want;
    IF l.limited AND v_n > 0 AND l.name <> ALL (v_locked) THEN
      v_n := CASE WHEN p_wait THEN 0 END;
    END IF;
    IF v_n > 0 AND l.concurrency IS NOT NULL THEN
      IF l.held + v_n > l.concurrency OR l.rows > 100 AND random() * l.rows < 1 THEN
        l.held := pawl.outbox_limit_count(p_kind, l.name);
      END IF;
      v_n := greatest(0, least(v_n, l.concurrency - l.held));
    END IF;
    IF v_n > 0 AND l.rate IS NOT NULL THEN
      v_from := pawl.limit_from(l, l.now);
      v_n := CASE WHEN l.now >= v_from THEN least(v_n, 1 + floor(extract(epoch FROM l.now - v_from) / extract(epoch FROM l.period) * l.rate)) ELSE 0 END;
    END IF;
    v_room := v_room || v_n;
  END LOOP;
  RETURN v_room;
END $f$;
