-- The engine adds the parameters and all columns but the first: see timers.go.
SELECT pawl.micros(CASE WHEN isfinite(d.next) THEN d.next WHEN d.next < @now THEN @now END - @now) AS micros, d.due, d.late, d.at, d.read
  FROM pawl.timer_next_due(@from, @low, @high, @within) d
