package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// D-275: what the built-in strategies are asked by search is what they return for the list of
// all keys that wait; a strategy of a program's gets that list, sorted.
func TestKeysetIsTheSortedList(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	var sets [2]keyset
	model := map[string]int{}
	for step := range 30_000 {
		key, in := fmt.Sprintf("%04d", rng.IntN(4000)), rng.IntN(2)
		if before, there := model[key]; there && (step/5000%2 == 1 || before != in) {
			sets[before].remove(key)
			delete(model, key)
		} else {
			sets[in].add(key)
			model[key] = in
		}
		sets[in].remove("none")
		if step%97 != 0 || len(model) == 0 {
			continue
		}
		both := []*keyset{&sets[0], &sets[1]}
		var want []string
		for key := range model {
			want = append(want, key)
		}
		slices.Sort(want)
		if got := sortedKeys(both); !slices.Equal(got, want) || sets[0].count+sets[1].count != len(want) {
			t.Fatalf("step %d: %d keys, want %d", step, len(got), len(want))
		}
		for range 20 {
			last := fmt.Sprintf("%04d", rng.IntN(4001))
			if got, want := nextOf(both, last), (cyclic{}).Next(want, last); got != want {
				t.Fatalf("step %d: after %q comes %q, want %q", step, last, got, want)
			}
		}
	}
}
