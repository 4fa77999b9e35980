-- finite(time)
-- Null for a time that Go cannot tell: one broken row must not stop the others.
CASE WHEN isfinite({time}) THEN {time} END
