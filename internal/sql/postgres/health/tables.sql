SELECT t.name FROM (VALUES pawl.tables()) t(name) WHERE to_regclass(t.name) IS NULL ORDER BY t.name
