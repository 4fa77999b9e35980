UPDATE pawl.outbox_lane AS l SET asked = CASE WHEN @room > 0 THEN @now END
 WHERE queue = @queue AND kind = 3 AND CASE WHEN @room > 0 THEN pawl.asks(l) ELSE asked IS NOT NULL END
