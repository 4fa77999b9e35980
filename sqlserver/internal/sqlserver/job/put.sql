DECLARE @GOT int;
EXEC @GOT = pawl.job_put_row @id, @name, @topic, @payload, @headers, @lane, @schedule, @zone, @misfire, @misfire_limit, @overlap, @spread, @shift, @next_time, @due_at;
EXEC pawl.audit_note @note_id, @note_actor, N'put', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
