package engine_test

import (
	"errors"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// numbers is a list of so many numbers, and what was asked of it.
type numbers struct {
	n    int
	asks []int
}

func (l *numbers) read(after *int, most int) (page []int, err error) {
	l.asks = append(l.asks, most)
	next := 0
	if after != nil {
		next = *after + 1
	}
	for len(page) < most && next < l.n {
		page, next = append(page, next), next+1
	}
	return page, nil
}

// A list is read to its end, once each item, in pages that grow; who stops earlier has read little.
func TestPages(t *testing.T) {
	for n, asks := range map[int]int{0: 1, 1: 1, 63: 1, 64: 2, 65: 2, 64 + 256: 3, 64 + 256 + 500 + 7: 4} {
		l := &numbers{n: n}
		all, err := engine.Collect(engine.Pages(nil, l.read), 0)
		if err != nil || len(all) != n || len(l.asks) != asks {
			t.Errorf("%d: %d, %v, asked for %v", n, len(all), err, l.asks)
		}
		for i, got := range all {
			if got != i {
				t.Fatalf("%d: at %d is %d", n, i, got)
			}
		}
	}
	l, after := &numbers{n: 10_000}, 10
	first, err := engine.Collect(engine.Pages(&after, l.read), 2)
	if err != nil || len(first) != 2 || first[0] != 11 || len(l.asks) != 1 {
		t.Errorf("the first two behind 10: %v, %v, asked for %v", first, err, l.asks)
	}
}

// What was read before an error is given, then the error, then nothing.
func TestPagesFail(t *testing.T) {
	gone, n := errors.New("gone"), 0
	list := engine.Pages(nil, func(after *int, most int) ([]int, error) {
		if after != nil {
			return nil, gone
		}
		return make([]int, most), nil
	})
	var last error
	for _, err := range list {
		if n++; last != nil {
			t.Fatal("there is more behind an error")
		}
		last = err
	}
	if n != 65 || !errors.Is(last, gone) {
		t.Errorf("%d items, %v", n, last)
	}
	if all, err := engine.Collect(list, 0); all != nil || !errors.Is(err, gone) {
		t.Errorf("%v, %v", all, err)
	}
}
