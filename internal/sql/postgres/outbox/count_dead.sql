SELECT pg_catalog.cardinality(o_ids)::int8 AS n, o_last AS last, pawl.failed_steps(o_ids) AS ended
  FROM pawl.outbox_dead_pick(@ids, @topic, @queue, @error, @since, @before, @after, @look, @most, @fingerprint, @discarded, @act)
