package engine

import (
	"os"
	"strconv"
)

// ProcessName returns a readable name of this process, host:pid. It is the default name of
// components.
func ProcessName() string {
	host, _ := os.Hostname()
	return host + ":" + strconv.Itoa(os.Getpid())
}
