-- Which generation of the database this is: a mark, its number, the file that it was
-- written in, and the last id that was handed out, which never goes back. ?1 now.
SELECT lower(hex(g.id)), g.number, coalesce(g.place, ''), (SELECT s.last FROM pawl.outbox_sequence s) FROM pawl.generation g
