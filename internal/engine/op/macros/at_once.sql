-- at_once()
-- The last of the times at which messages with ordering keys become ready that are due at once: a
-- message's says its key's group (ordering.At).
'epoch'
