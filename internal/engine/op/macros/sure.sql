-- sure(condition)
-- A condition as a column, false where it is null.
coalesce({condition}, false)
