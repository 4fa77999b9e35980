package worker_test

import (
	"math/bits"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/worker"
)

// A token carries the tag of its owner, and cannot be guessed: 90 of its bits are random.
func TestTaggedTokens(t *testing.T) {
	id := uuid.Must(uuid.NewV7())
	tag := worker.TagOf(id)
	seen := map[uuid.UUID]bool{}
	var set, clear [16]byte
	for range 1000 {
		token := tag.NewOwnerToken()
		if seen[token] || worker.TagIn(token) != tag {
			t.Fatalf("token %s of %s", token, id)
		}
		seen[token] = true
		for i, b := range token {
			set[i] |= b
			clear[i] |= ^b
		}
	}
	random := 0
	for i := range set {
		random += bits.OnesCount8(set[i] & clear[i])
	}
	if random != 90 {
		t.Errorf("%d bits differ, want 90", random)
	}
}

// Tokens of programs that claim by themselves carry no tag.
func TestUntaggedTokens(t *testing.T) {
	for _, token := range []uuid.UUID{{}, uuid.New(), worker.Tag(0).NewOwnerToken(), uuid.Must(uuid.NewV7())} {
		if worker.TagIn(token) != 0 {
			t.Errorf("token %s has tag %x", token, worker.TagIn(token))
		}
	}
	if one, other := worker.TagOf(uuid.Must(uuid.NewV7())), worker.TagOf(uuid.Must(uuid.NewV7())); one == other {
		t.Error("two workers of a moment have one tag")
	}
}
