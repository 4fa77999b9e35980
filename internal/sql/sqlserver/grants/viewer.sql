-- A viewer reads everything, payloads included, and changes nothing.
GRANT SELECT ON SCHEMA::pawl TO "role";
GRANT EXECUTE ON pawl.outbox_text TO "role";
GRANT EXECUTE ON pawl.generation_look TO "role";
