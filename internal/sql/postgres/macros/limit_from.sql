-- limit_from(limit, now)
-- When the first of the messages could have begun that may begin now, by a limit's rate: as many are
-- saved up as its burst. A time further ahead than a burst takes is one of a clock that was set back.
CASE WHEN {limit}.next_at > {now} + {limit}.period * (({limit}.burst + 1)::float8 / {limit}.rate) THEN {now}
     ELSE greatest({limit}.next_at, {now} - {limit}.period * (({limit}.burst - 1)::float8 / {limit}.rate)) END
