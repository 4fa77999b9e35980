SELECT coalesce(max(version), 0) FROM pawl.pawl_schema
