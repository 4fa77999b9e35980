UPDATE pawl.outbox_lane SET asked = NULL WHERE id = @lane AND asked IS NOT NULL
