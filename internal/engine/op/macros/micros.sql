-- micros(interval)
({interval})
