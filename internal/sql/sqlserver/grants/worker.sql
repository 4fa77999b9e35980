-- A worker does all that pawl.Run and the components do: enqueue, claim, settle, schedule,
-- take leases, clean up. It does not change the audit trail or the schema.
GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON SCHEMA::pawl TO "role";
DENY INSERT, UPDATE, DELETE ON pawl.audit_trail TO "role";
DENY INSERT, UPDATE, DELETE ON pawl.pawl_schema TO "role";
DENY INSERT, UPDATE, DELETE ON pawl.pawl_object TO "role";
