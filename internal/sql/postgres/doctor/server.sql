SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int8 AS number, pg_is_in_recovery() AS standby,
       current_setting('default_transaction_read_only')::bool AS read_only, current_setting('default_transaction_isolation') AS isolation,
       current_setting('server_encoding') AS encoding
