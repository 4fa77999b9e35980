-- The engine adds @from: see tune.go.
SELECT pawl.micros(pawl.outbox_next_due(@queue, @from) - @now) AS micros
