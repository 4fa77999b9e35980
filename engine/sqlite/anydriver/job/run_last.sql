-- Note that the run at ?3 is the last of job ?2.
UPDATE pawl.job SET last_run = ?3 WHERE id = ?2
