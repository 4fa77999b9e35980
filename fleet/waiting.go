package fleet

import "slices"

// kind is what the places for a store's turn depend on.
type kind struct {
	file  bool
	fails bool // it failed the last time
}

func kindOf(s *Store) kind { return kind{file: s.isFile(), fails: s.fails()} }

// column returns 0 for servers and 1 for files.
func (k kind) column() int {
	if k.file {
		return 1
	}
	return 0
}

func kinds() [4]kind { return [...]kind{{}, {file: true}, {fails: true}, {file: true, fails: true}} }

// index is where a kind is among kinds.
func (k kind) index() int {
	all := kinds()
	return slices.Index(all[:], k)
}

// queue has the stores that wait for a turn, each kind apart: there may be places for one
// kind and not for another.
type queue struct {
	stores map[string]*Store
	keys   [4]keyset
}

// add adds a store.
func (q *queue) add(s *Store) {
	q.remove(s.Key)
	q.stores[s.Key] = s
	q.keys[kindOf(s).index()].add(s.Key)
}

// has reports whether a store waits.
func (q *queue) has(s *Store) bool { return q.stores[s.Key] == s }

// remove removes a store.
func (q *queue) remove(key string) {
	if q.stores[key] == nil {
		return
	}
	delete(q.stores, key)
	for i := range q.keys {
		q.keys[i].remove(key)
	}
}

func (q *queue) len() int { return len(q.stores) }

// any reports whether a store of an allowed kind waits.
func (q *queue) any(allowed func(kind) bool) bool { return len(q.of(allowed)) > 0 }

// of returns the keys of the allowed kinds of which a store waits.
func (q *queue) of(allowed func(kind) bool) (sets []*keyset) {
	for i := range q.keys {
		if q.keys[i].count > 0 && allowed(kinds()[i]) {
			sets = append(sets, &q.keys[i])
		}
	}
	return sets
}

// choose has a strategy choose among the kinds that have a place; nil: none of them waits.
func (q *queue) choose(strategy Strategy, last string, hasPlace func(kind) bool) *Store {
	sets := q.of(hasPlace)
	if len(sets) == 0 {
		return nil
	}
	if _, known := strategy.(cyclic); known { // by search rather than with a list of all keys
		return q.stores[nextOf(sets, last)]
	}
	key := strategy.Next(sortedKeys(sets), last)
	if !slices.ContainsFunc(sets, func(k *keyset) bool { return k.has(key) }) { // returned by a strategy of the program's, but not waiting
		key, _ = firstOf(sets, (*keyset).first)
	}
	return q.stores[key]
}

// nextOf is what cyclic.Next returns for the keys of sets.
func nextOf(sets []*keyset, last string) string {
	key, ok := firstOf(sets, func(k *keyset) (string, bool) { return k.after(last) })
	if !ok {
		key, _ = firstOf(sets, (*keyset).first)
	}
	return key
}

// firstOf returns the smallest of the keys that a function returns for sets.
func firstOf(sets []*keyset, of func(*keyset) (string, bool)) (least string, found bool) {
	for _, k := range sets {
		if key, ok := of(k); ok && (!found || key < least) {
			least, found = key, true
		}
	}
	return least, found
}

// sortedKeys returns all keys of sets.
func sortedKeys(sets []*keyset) (keys []string) {
	for _, k := range sets {
		keys = slices.Grow(keys, k.count)
		keys = k.appendTo(keys)
	}
	if len(sets) > 1 {
		slices.Sort(keys)
	}
	return keys
}
