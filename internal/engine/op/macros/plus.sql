-- plus(time, interval)
{time} + {interval}
