-- where a message goes that was taken out of a lane: back, unless that is one of a limit or a pause
SELECT coalesce((SELECT l.id FROM pawl.outbox_lane l WHERE @to IS NULL AND l.id = @lane AND l.kind < 3), m.lane) AS lane FROM pawl.outbox_message m WHERE m.id = @id
