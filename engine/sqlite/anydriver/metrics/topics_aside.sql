-- The topics that are paused, up to ?2, and the lanes where they are laid aside. ?1 now.
SELECT name, lane FROM pawl.outbox_pause WHERE kind = 'topic' ORDER BY name LIMIT ?2
