-- at_once()
-- The time at which messages with ordering keys become ready that are due at once.
'epoch'
