-- planned(at)
-- When a message was to become ready; null for one with an ordering key that is due at once.
CASE WHEN {at} > pawl.at_once() OR {at} < -86400000000 THEN {at} END
