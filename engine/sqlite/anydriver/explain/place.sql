-- Where the message at position ?2 lies: from when on it can be claimed, null if
-- it does not wait; whether it is laid aside, as of a paused topic; what its last
-- failed attempt said about the next one, and when that was; the join that it is
-- a wait of; as a suspect, with how many others it may be claimed. ?1 now.
SELECT r.at, coalesce(r.lane <> m.lane, 0), e.next_attempt_at, e.updated_at, w.join_id, coalesce(r.suspect, 0)
  FROM pawl.outbox_message m
  LEFT JOIN pawl.outbox_ready r ON r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= m.id) AND r.lo + r.n > m.id
  LEFT JOIN pawl.outbox_exception e ON e.id = m.id
  LEFT JOIN pawl.outbox_join_wait w ON w.id = m.id
 WHERE m.id = ?2
