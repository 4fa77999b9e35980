DECLARE @GOT int;
EXEC @GOT = pawl.lease_force @name;
EXEC pawl.audit_note @note_id, @note_actor, N'release', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
