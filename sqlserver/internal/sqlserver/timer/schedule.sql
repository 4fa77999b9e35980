DECLARE @GOT int;
EXEC @GOT = pawl.timer_schedule_rows @timers;
SET NOCOUNT OFF;
pawl.changed(@GOT)
