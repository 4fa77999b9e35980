package engine

import (
	"crypto/md5" //nolint:gosec // maps names to numbers, as the SQL does
	"encoding/binary"
	"strconv"
)

// The bounds of a queue's priorities.
const (
	MinPriority = -100
	MaxPriority = 100
)

// LaneID returns the number of a queue at one priority, as outbox_lane_id computes in SQL.
func LaneID(queue string, priority int) int64 {
	sum := md5.Sum([]byte(queue + "/" + strconv.Itoa(priority)))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// TokenBits is how many bits of a lease's fencing token are below the generation's number.
// A token reaches the next generation's only with more acquisitions than that within a
// millisecond.
const TokenBits = 12
