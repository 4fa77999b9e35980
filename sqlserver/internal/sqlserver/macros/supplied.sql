-- supplied(row)
-- A filtered index is used only where its condition stands.
{row}.supplied = 1
