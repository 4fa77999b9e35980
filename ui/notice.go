package ui

import (
	"crypto/rand"
	"sync"
)

// maxNotices is how many results of changes are remembered.
const maxNotices = 1000

// notices are what became of the last changes, by keys that nobody can guess: the page that a change
// leads back to has the key in its address, so that no link can make a page say what was not done.
// They are safe for concurrent use.
type notices struct {
	mu    sync.Mutex
	texts map[string]string
	order []string // of the keys, the oldest first
}

// add remembers a text and returns its key.
func (n *notices) add(text string) string {
	key := rand.Text()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.order) == maxNotices {
		delete(n.texts, n.order[0])
		n.order = n.order[1:]
	}
	n.texts[key] = text
	n.order = append(n.order, key)
	return key
}

// text returns the text of a key; none of one that is unknown, or was made by another process.
func (n *notices) text(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.texts[key]
}
