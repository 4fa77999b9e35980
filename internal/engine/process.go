package engine

import (
	"os"
	"strconv"
)

// ProcessName returns a readable name of this process, host:pid. It is the default name of
// components.
func ProcessName() string {
	return HostName() + ":" + strconv.Itoa(os.Getpid())
}

// HostName returns the host's name, "" if it has none.
func HostName() string {
	host, _ := os.Hostname()
	return ValidText(host)
}
