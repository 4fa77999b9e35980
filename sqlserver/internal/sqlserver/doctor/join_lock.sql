UPDATE pawl.outbox_join WITH (ROWLOCK) SET last_updated_utc = last_updated_utc WHERE join_id = @join_id
