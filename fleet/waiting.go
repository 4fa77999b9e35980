package fleet

import "slices"

// queue has the stores that wait for a turn. Those that are files and those on servers are
// apart, since there may be places for one kind alone.
type queue struct {
	stores         map[string]*Store
	files, servers keyset
}

func (q *queue) kind(s *Store) *keyset {
	if s.isFile() {
		return &q.files
	}
	return &q.servers
}

// add adds a store.
func (q *queue) add(s *Store) {
	if before := q.stores[s.Key]; before != nil {
		q.kind(before).remove(s.Key)
	}
	q.stores[s.Key] = s
	q.kind(s).add(s.Key)
}

// has reports whether a store waits.
func (q *queue) has(s *Store) bool { return q.stores[s.Key] == s }

// remove removes a store.
func (q *queue) remove(s *Store) {
	delete(q.stores, s.Key)
	q.kind(s).remove(s.Key)
}

func (q *queue) len() int { return len(q.stores) }

// choose has a strategy choose among the kinds that have places; nil: none of them waits.
func (q *queue) choose(strategy Strategy, last string, files, servers bool) *Store {
	kinds := make([]*keyset, 0, 2)
	if files && q.files.count > 0 {
		kinds = append(kinds, &q.files)
	}
	if servers && q.servers.count > 0 {
		kinds = append(kinds, &q.servers)
	}
	if len(kinds) == 0 {
		return nil
	}
	if _, known := strategy.(cyclic); known { // by search rather than with a list of all keys
		return q.stores[nextOf(kinds, last)]
	}
	keys := sortedKeys(kinds)
	key := strategy.Next(keys, last)
	if !slices.ContainsFunc(kinds, func(k *keyset) bool { return k.has(key) }) { // returned by a strategy of the program's, but not waiting
		key, _ = firstOf(kinds, (*keyset).first)
	}
	return q.stores[key]
}

// nextOf is what cyclic.Next returns for the keys of kinds.
func nextOf(kinds []*keyset, last string) string {
	key, ok := firstOf(kinds, func(k *keyset) (string, bool) { return k.after(last) })
	if !ok {
		key, _ = firstOf(kinds, (*keyset).first)
	}
	return key
}

// firstOf returns the smallest of the keys that of returns.
func firstOf(kinds []*keyset, of func(*keyset) (string, bool)) (least string, found bool) {
	for _, k := range kinds {
		if key, ok := of(k); ok && (!found || key < least) {
			least, found = key, true
		}
	}
	return least, found
}

// sortedKeys returns the keys of kinds.
func sortedKeys(kinds []*keyset) (keys []string) {
	for _, k := range kinds {
		keys = slices.Grow(keys, k.count)
		keys = k.appendTo(keys)
	}
	if len(kinds) > 1 {
		slices.Sort(keys)
	}
	return keys
}
