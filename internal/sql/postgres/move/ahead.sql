SELECT setval('pawl.outbox_block', greatest((SELECT s.last_value FROM pawl.outbox_block s), @low / 4096 + 1)),
       setval('pawl.outbox_single', greatest((SELECT s.last_value FROM pawl.outbox_single s), @high))
