SELECT t.name FROM (VALUES pawl.tables()) t(name) WHERE OBJECT_ID(t.name, N'U') IS NULL ORDER BY t.name
