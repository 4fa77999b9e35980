SELECT pg_catalog.cardinality(o_ids)::int8 AS n, o_last AS last
  FROM pawl.outbox_dead_pick(@ids, @topic, @queue, @error, @since, @before, @after, @look, @most)
