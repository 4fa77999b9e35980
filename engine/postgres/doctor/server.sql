-- What kind of server this is.
SELECT current_setting('server_version'), current_setting('server_version_num')::int8, pg_is_in_recovery(),
       current_setting('default_transaction_read_only')::bool, current_setting('default_transaction_isolation')
