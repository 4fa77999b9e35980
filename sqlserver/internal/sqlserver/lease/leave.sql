DECLARE @GOT int;
EXEC @GOT = pawl.lease_leave @name, @waiter;
SET NOCOUNT OFF;
pawl.changed(@GOT)
