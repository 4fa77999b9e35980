SELECT name AS topic, lane FROM pawl.outbox_pause WHERE kind = 'topic' ORDER BY name LIMIT @most
