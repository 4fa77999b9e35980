-- supplied(row)
-- A partial index is used only where its condition stands word for word.
{row}.supplied = 1
