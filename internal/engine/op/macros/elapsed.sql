-- elapsed(since, until)
-- Microseconds.
pawl.micros({until} - {since})
