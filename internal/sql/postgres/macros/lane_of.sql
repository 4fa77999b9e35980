-- lane_of(lane, wanted)
-- Does a claim take from a lane? See outbox_claim_runs for what is wanted.
(coalesce({wanted}, 0) = 0 AND {lane}.kind = 0 OR {lane}.id = {wanted})
