package metrics

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// other stands for all names that came after there were enough.
const other = "_other"

// names bounds the values of a label: the first max names are themselves, all
// others are one. Asking for a name takes no lock.
type names struct {
	max   int
	mu    sync.Mutex
	known atomic.Pointer[map[string]string]
}

// label returns the value that stands for a name. It is always valid UTF-8.
func (n *names) label(name string) string {
	if known := n.known.Load(); known != nil {
		if label, ok := (*known)[name]; ok {
			return label
		}
		if len(*known) >= n.max {
			return other
		}
	}
	return n.learn(name)
}

func (n *names) learn(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]string{}
	if known := n.known.Load(); known != nil {
		if label, ok := (*known)[name]; ok {
			return label
		}
		if len(*known) >= n.max {
			return other
		}
		all = maps.Clone(*known)
	}
	name = strings.Clone(name) // it may be part of something large
	label := strings.ToValidUTF8(name, "\uFFFD")
	all[name] = label
	n.known.Store(&all)
	return label
}

// pair is what a handle is found by.
type pair struct{ a, b string }

// table keeps one handle for each pair. Finding one takes no lock and no memory:
// it is done for every message.
type table[H any] struct {
	mu  sync.Mutex
	all atomic.Pointer[map[pair]*H]
}

func (t *table[H]) find(k pair) *H {
	if all := t.all.Load(); all != nil {
		return (*all)[k]
	}
	return nil
}

// add returns the handle of a pair, which build makes if there is none.
func (t *table[H]) add(k pair, build func() *H) *H {
	if h := t.find(k); h != nil {
		return h
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.find(k); h != nil {
		return h
	}
	all := map[pair]*H{}
	if known := t.all.Load(); known != nil {
		all = maps.Clone(*known)
	}
	h := build()
	all[k] = h
	t.all.Store(&all)
	return h
}
