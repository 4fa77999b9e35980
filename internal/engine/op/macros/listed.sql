-- listed(i)
-- The columns of a list. Payloads that nobody reads are not fetched: on PostgreSQL and SQLite they
-- may lie outside their row.
pawl.columns({i}, payload, CASE WHEN NOT (pawl.is(@bare)) THEN {i}.payload END)
