-- Which generation of the database this is. The engine keeps the answer itself: a
-- mark, or null on a standby, the number, and how much is written.
SELECT o_mark, o_number, o_written FROM pawl.generation_look()
