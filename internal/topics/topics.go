// Package topics tells which of the names that handlers are registered for a topic belongs to.
package topics

import "strings"

// JoinWait is the topic of the messages that wait for a join, unless a program chose
// another. Only a handler of that very name gets them: to others they say nothing.
const JoinWait = "join.wait"

// Pattern returns the prefix that a name ending in * stands for; ok is false for other
// names.
func Pattern(name string) (prefix string, ok bool) { return strings.CutSuffix(name, "*") }

// Match returns the name that a topic belongs to: itself, or else the pattern with the
// longest prefix.
func Match(names []string, topic string) (name string, ok bool) {
	longest := -1
	for _, n := range names {
		if n == topic {
			return n, true
		}
		if prefix, pattern := Pattern(n); pattern && len(prefix) > longest && strings.HasPrefix(topic, prefix) {
			name, longest = n, len(prefix)
		}
	}
	if topic == JoinWait {
		return "", false
	}
	return name, longest >= 0
}
