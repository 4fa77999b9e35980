DECLARE @GOT int;
EXEC @GOT = pawl.lease_guard_row @name, @holder, @token;
SET NOCOUNT OFF;
pawl.changed(@GOT)
