-- claimed_runs()
-- The end of a claim whose messages are read later: its runs are added to v_runs.
SELECT coalesce(sum(runs.n), 0), array_cat(v_runs, array_agg((runs.lo, runs.n, runs.retry, v_lane.priority, v_now + p_lease, runs.at, used.length)::pawl.outbox_held ORDER BY runs.at, runs.lo))
  INTO v_got, v_runs FROM used, runs;
