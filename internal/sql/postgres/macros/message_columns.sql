-- message_columns()
id bigint, message_id uuid, topic text, correlation_id text, headers text, payload bytea, created_at timestamptz, due_at timestamptz
