-- finite(time)
{time}
