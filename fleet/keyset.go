package fleet

import (
	"slices"
	"sort"
)

// keysetBlock is the most keys of a block.
const keysetBlock = 512

// keyset is a sorted set of keys, in blocks: inserting and removing move a block's keys at
// most, and not those of all stores that wait.
type keyset struct {
	blocks [][]string // none is empty
	count  int
}

// find returns the first place whose key is not before key; past the last block if there is
// none.
func (k *keyset) find(key string) (block, i int) {
	block = sort.Search(len(k.blocks), func(b int) bool { return k.blocks[b][len(k.blocks[b])-1] >= key })
	if block < len(k.blocks) {
		i, _ = slices.BinarySearch(k.blocks[block], key)
	}
	return block, i
}

// add adds a key, unless it is there.
func (k *keyset) add(key string) {
	b, i := k.find(key)
	if b == len(k.blocks) { // behind all others
		if b == 0 {
			k.blocks, k.count = append(k.blocks, []string{key}), 1
			return
		}
		b--
		i = len(k.blocks[b])
	} else if k.blocks[b][i] == key {
		return
	}
	k.count++
	k.blocks[b] = slices.Insert(k.blocks[b], i, key)
	if full := k.blocks[b]; len(full) > keysetBlock {
		half := len(full) / 2
		k.blocks = slices.Insert(k.blocks, b+1, slices.Clone(full[half:]))
		k.blocks[b] = slices.Clip(full[:half])
	}
}

// remove removes a key, if it is there.
func (k *keyset) remove(key string) {
	b, i := k.find(key)
	if b == len(k.blocks) || k.blocks[b][i] != key {
		return
	}
	k.count--
	if k.blocks[b] = slices.Delete(k.blocks[b], i, i+1); len(k.blocks[b]) == 0 {
		k.blocks = slices.Delete(k.blocks, b, b+1)
	}
}

// has reports whether a key is there.
func (k *keyset) has(key string) bool {
	b, i := k.find(key)
	return b < len(k.blocks) && k.blocks[b][i] == key
}

// after returns the first key after another.
func (k *keyset) after(key string) (string, bool) {
	b, i := k.find(key)
	if b == len(k.blocks) {
		return "", false
	}
	if k.blocks[b][i] == key {
		if i++; i == len(k.blocks[b]) {
			b, i = b+1, 0
		}
	}
	if b == len(k.blocks) {
		return "", false
	}
	return k.blocks[b][i], true
}

// first returns the first key of all.
func (k *keyset) first() (string, bool) {
	if len(k.blocks) == 0 {
		return "", false
	}
	return k.blocks[0][0], true
}

// appendTo appends all keys in their order.
func (k *keyset) appendTo(keys []string) []string {
	for _, block := range k.blocks {
		keys = append(keys, block...)
	}
	return keys
}
