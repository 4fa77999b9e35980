-- minute(time)
floor(extract(epoch FROM {time}) / 60.0)::int8
