DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_report_step @join_id, @message_id, @status;
SET NOCOUNT OFF;
pawl.changed(@GOT)
