-- The highest position within a range that is used, or 0.
CREATE PROCEDURE pawl.outbox_highest @from bigint, @to bigint, @high bigint OUTPUT AS
BEGIN
SET NOCOUNT ON;
SELECT @high = MAX(h.id) FROM (VALUES
  (CAST(0 AS bigint)),
  ((SELECT MAX(m.id) FROM pawl.outbox_message m WHERE m.id BETWEEN @from AND @to)),
  ((SELECT MAX(t.id) FROM pawl.timer t WHERE t.id BETWEEN @from AND @to)),
  ((SELECT MAX(r.id) FROM pawl.job_run r WHERE r.id BETWEEN @from AND @to))) h(id);
END
