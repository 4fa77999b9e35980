-- claimed_messages()
-- The end of a claim, behind RETURN QUERY: the messages of its runs.
SELECT pawl.message(m), runs.retry, v_lane.priority, v_now + p_lease, runs.at, used.length
  FROM used, (SELECT * FROM runs ORDER BY runs.at, runs.lo) runs,
       LATERAL (SELECT * FROM pawl.outbox_message x WHERE x.id >= runs.lo AND x.id < runs.lo + runs.n ORDER BY x.id) m
 ORDER BY runs.at, runs.lo;
GET DIAGNOSTICS v_got = ROW_COUNT;
