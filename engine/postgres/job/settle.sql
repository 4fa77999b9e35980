-- Write down how runs ended. Answers how many.
SELECT pawl.job_settle()
