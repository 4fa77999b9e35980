-- plain_print(error)
-- The fingerprint of an error that no Go program recorded: the text without its numbers.
left(regexp_replace({error}, '[0-9]+', '#', 'g'), 200)
