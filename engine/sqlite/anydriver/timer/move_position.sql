-- Have the timer at ?2 become the message at ?3. ?1 now.
UPDATE pawl.timer SET id = ?3, supplied = 1 WHERE id = ?2
