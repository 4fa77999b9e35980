package engine

import (
	"crypto/md5" //nolint:gosec // spreads names over numbers, the same as the SQL does
	"encoding/binary"
	"strconv"
)

// The bounds of a queue's priorities.
const (
	MinPriority = -100
	MaxPriority = 100
)

// LaneID is the number under which a queue at one priority is known, the same as
// outbox_lane_id computes in SQL.
func LaneID(queue string, priority int) int64 {
	sum := md5.Sum([]byte(queue + "/" + strconv.Itoa(priority)))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// TokenBits is how many bits of a lease's fencing token lie below the generation's
// number. More acquisitions than that within a millisecond would be needed for a
// token to reach the next generation's.
const TokenBits = 12
