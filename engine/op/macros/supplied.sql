-- supplied(row)
{row}.supplied
