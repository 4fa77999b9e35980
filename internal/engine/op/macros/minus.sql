-- minus(time, interval)
{time} - {interval}
