SELECT s.name, s.setting AS value, s.source FROM pg_settings s WHERE s.name = ANY (@names) ORDER BY s.name
