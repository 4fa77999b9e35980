SELECT count(*) FROM pg_stat_activity a WHERE a.datname = current_database() AND a.query = '<insufficient privilege>'
