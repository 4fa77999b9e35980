package engine

import (
	"crypto/md5" //nolint:gosec // maps names to numbers, as the SQL does
	"encoding/binary"
	"encoding/hex"
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
	Limited                   // a limit of their topic
)

// LaneID returns the number of a queue at one priority, as outbox_lane_id computes in SQL. Lanes
// of the kinds Ordered and Waiting have priority 0. For those of the kind Limited see LimitLaneID.
func LaneID(queue string, priority int, kind LaneKind) int64 {
	name := strconv.Itoa(priority)
	switch kind {
	case Claimable, Limited:
	case Ordered:
		name = "ordered"
	case Waiting:
		name = "waiting"
	}
	return LaneNumber(queue + "/" + name)
}

// LimitLaneID returns the number of the lane of a topic's limit in a queue at one priority, as
// outbox_limit_lane computes in SQL.
func LimitLaneID(queue string, priority int, topic string) int64 {
	sum := md5.Sum([]byte(topic))
	return LaneNumber(queue + "/" + strconv.Itoa(priority) + "/" + hex.EncodeToString(sum[:]) + "/limit")
}

// LaneNumber returns the number of the lane of a name, as SQL computes it.
func LaneNumber(name string) int64 {
	sum := md5.Sum([]byte(name))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// TokenBits is how many bits of a lease's fencing token are below the generation's number.
// A token reaches the next generation's only with more acquisitions than that within a
// millisecond.
const TokenBits = 12
