DECLARE @GOT int;
EXEC @GOT = pawl.lease_enrol @name, @waiter, @alive;
SET NOCOUNT OFF;
pawl.changed(@GOT)
