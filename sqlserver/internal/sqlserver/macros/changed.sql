-- changed(n)
-- Changes n rows, 10 000 at most, which is what a caller's transaction is told.
DECLARE @CHANGED TABLE (n bit);
INSERT INTO @CHANGED (n) SELECT TOP ({n}) 0 FROM (VALUES (0), (0), (0), (0), (0), (0), (0), (0), (0), (0)) a(x)
  CROSS JOIN (VALUES (0), (0), (0), (0), (0), (0), (0), (0), (0), (0)) b(x) CROSS JOIN (VALUES (0), (0), (0), (0), (0), (0), (0), (0), (0), (0)) c(x)
  CROSS JOIN (VALUES (0), (0), (0), (0), (0), (0), (0), (0), (0), (0)) d(x)
