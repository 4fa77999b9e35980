DECLARE @GOT int;
EXEC @GOT = pawl.lease_tidy @name;
SET NOCOUNT OFF;
pawl.changed(@GOT)
