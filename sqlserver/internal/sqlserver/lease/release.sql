DECLARE @GOT int;
EXEC @GOT = pawl.lease_give @name, @holder;
SET NOCOUNT OFF;
pawl.changed(@GOT)
