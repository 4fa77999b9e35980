-- Settings as this session sees them, and where they come from. $1 names.
SELECT s.name, s.setting, s.source FROM pg_settings s WHERE s.name = ANY ($1::text[]) ORDER BY s.name
