-- Under the write lock the rows just read are exactly this head, suspects left out.
DELETE FROM pawl.outbox_ready WHERE lane = @lane AND (at < @at OR (at = @at AND lo <= @lo)) AND suspect = 0
