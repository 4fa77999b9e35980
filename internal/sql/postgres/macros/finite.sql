-- finite(time)
-- Null for a time that Go cannot represent: one broken row must not stop the others.
CASE WHEN isfinite({time}) THEN {time} END
