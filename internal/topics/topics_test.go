package topics_test

import (
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/topics"
)

// D-201
func TestMatch(t *testing.T) {
	names := []string{"*", "order.*", "order.created", "order.line.*", "join.*"}
	reversed := slices.Clone(names)
	slices.Reverse(reversed)
	for topic, want := range map[string]string{
		"order.created": "order.created", "order.paid": "order.*", "order.line.added": "order.line.*", "order.": "order.*",
		"order": "*", "": "*", "order.*": "order.*", "join.waits": "join.*", topics.JoinWait: "",
	} {
		for _, names := range [][]string{names, reversed} {
			if got, ok := topics.Match(names, topic); got != want || ok != (want != "") {
				t.Errorf("%q belongs to %q of %q, %v, not to %q", topic, got, names, ok, want)
			}
		}
	}
	if got, ok := topics.Match([]string{"a", "b.*"}, "c"); ok {
		t.Errorf("c belongs to %q", got)
	}
	if got, ok := topics.Match([]string{"*", topics.JoinWait}, topics.JoinWait); !ok || got != topics.JoinWait {
		t.Errorf("the handler of waits gets %q, %v", got, ok)
	}
}
