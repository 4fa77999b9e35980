-- flow_key(id)
-- The advisory lock under which a flow is parked, and gets signals.
pawl.lock_key(pg_catalog.concat('pawl.flow/', {id}))
