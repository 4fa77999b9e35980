SELECT pg_catalog.setval('pawl.outbox_block'::pg_catalog.regclass, greatest((SELECT s.last_value FROM pawl.outbox_block s), @low / 4096 + 1)),
       pg_catalog.setval('pawl.outbox_single'::pg_catalog.regclass, greatest((SELECT s.last_value FROM pawl.outbox_single s), @high))
