-- queues_under(kind, name)
-- The queues where messages may wait for a limit.
(SELECT DISTINCT l.queue FROM pawl.outbox_lane l
  WHERE CASE {kind} WHEN 'topic' THEN l.topic = {name} WHEN 'each' THEN l.topic <> '' AND pawl.falls_under({name}, l.topic) ELSE l.queue = {name} END)
