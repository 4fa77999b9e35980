-- supplied(row)
-- A partial index is used only where its condition is repeated word for word.
{row}.supplied = 1
