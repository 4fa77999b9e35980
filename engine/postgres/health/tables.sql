-- Tables of pawl that are not there. The list of migrations says what was made, not
-- what somebody dropped since.
SELECT t.name FROM (VALUES pawl.tables()) t(name) WHERE to_regclass(t.name) IS NULL ORDER BY t.name
