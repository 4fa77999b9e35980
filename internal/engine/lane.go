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

// LaneKind is what the messages of a lane wait for.
type LaneKind int

// The kinds of lanes.
const (
	Claimable LaneKind = iota // a worker
	Ordered                   // to be put in order: enqueued with an ordering key
	Waiting                   // an earlier message with their ordering key
)

// LaneID returns the number of a queue at one priority, as outbox_lane_id computes in SQL. Lanes
// of other kinds than Claimable have priority 0.
func LaneID(queue string, priority int, kind LaneKind) int64 {
	name := strconv.Itoa(priority)
	switch kind {
	case Claimable:
	case Ordered:
		name = "ordered"
	case Waiting:
		name = "waiting"
	}
	sum := md5.Sum([]byte(queue + "/" + name))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// TokenBits is how many bits of a lease's fencing token are below the generation's number.
// A token reaches the next generation's only with more acquisitions than that within a
// millisecond.
const TokenBits = 12
