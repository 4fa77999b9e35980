package engine

import (
	"os"
	"strconv"
)

// ProcessName names this process for people, host:pid. Components go by it that were
// given no other name.
func ProcessName() string {
	host, _ := os.Hostname()
	return host + ":" + strconv.Itoa(os.Getpid())
}
