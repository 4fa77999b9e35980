package check

import "github.com/bravellian/pawl/torture/internal/history"

const checkUnique = "of a unique key one message waits at a time"

// uniqueKey is what is known of a unique key.
type uniqueKey struct {
	made   int   // messages that were enqueued with it
	newest int   // the last of them that is known to be committed
	at     int64 // when that was known
}

// unique is a message with a unique key.
type unique struct {
	key *uniqueKey
	nr  int
}

// over reports whether a later message with the key was committed before a time, and the
// database was not rewound since.
func (u unique) over(r *run, before, at int64) bool {
	return u.nr < u.key.newest && u.key.at < before && !r.rewound(u.key.at, at)
}

// uniqueRule: a message with a unique key is enqueued when none before it waits or runs, and only
// such a one takes the place of another. An enqueue has its key for itself from before its event
// to its commit, so the events have the order of the commits.
func (r *run) uniqueRule() rule {
	keys := map[string]*uniqueKey{}
	messages := map[int32]unique{}
	return rule{
		name: checkUnique,
		event: func(s *step) {
			u, known := messages[s.index]
			switch {
			case s.message == nil:
			case s.Op == history.Duplicate:
				r.duplicate(s, u, known && u.key == keys[s.Name])
			case s.is(history.Enqueue, history.Began) && s.Name != "":
				key := keys[s.Name]
				if key == nil {
					key = &uniqueKey{}
					keys[s.Name] = key
				}
				key.made++
				messages[s.index] = unique{key, key.made}
			case !known:
			case s.is(history.Enqueue, history.OK) && u.nr > u.key.newest:
				u.key.newest, u.key.at = u.nr, s.At
			case s.begins() && !s.stale && u.over(r, s.At, s.At):
				r.about(checkUnique, s.index, "", "%s of %s at %d; a later message with its key is committed since %d", s.Op, s.Process, s.At, u.key.at)
			}
		},
		end: func() {},
	}
}

// duplicate is about an enqueue that was answered with an earlier message: it waited or ran when
// the enqueue was asked for, or later.
func (r *run) duplicate(s *step, u unique, enqueued bool) {
	switch m := s.message; {
	case !enqueued || m.has(rolledBack):
		r.about(checkUnique, s.index, s.Name, "it takes the place of another one at %d, and nobody enqueued it with the key", s.At)
	case m.finished != 0 && m.finished < s.Nominal && !r.rewound(m.finished, s.At):
		r.about(checkUnique, s.index, s.Name, "it takes the place of another one that was asked for at %d, and was over at %d", s.Nominal, m.finished)
	case u.over(r, s.Nominal, s.At):
		r.about(checkUnique, s.index, s.Name, "it takes the place of another one that was asked for at %d; a later one is committed since %d", s.Nominal, u.key.at)
	}
}
