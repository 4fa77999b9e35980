-- limit_from()
-- @first: when the first of the messages could have begun that may begin now, by a limit's rate; as
-- many are saved up as its burst. A time further ahead than a burst takes is one of a clock that was
-- set back.
SET @first = pawl.minus(@now, @saved);
IF @next > @first SET @first = CASE WHEN @next > pawl.plus(@now, @ahead) THEN @now ELSE @next END;
