-- claimed_rows()
-- The answer of a claim: the messages of @runs. The runs come first, a message is found by its
-- id.
SELECT pawl.message(m), r.retry AS retry_count, @queue AS queue, r.priority, @until AS locked_until
  FROM @runs r INNER LOOP JOIN pawl.outbox_message m ON m.id >= r.lo AND m.id < r.lo + r.n
 ORDER BY r.nr, r.at, r.lo, m.id;
