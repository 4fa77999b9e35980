-- micros(interval)
(extract(epoch FROM {interval}) * 1000000.0)::int8
