package engine

import "iter"

// Pages grow: who wants the first items reads few, and who wants all asks seldom.
const (
	firstPage  = 64
	pageGrowth = 4
	largePage  = 500
)

// Stream is a list that is read page by page while it is iterated over. begin begins to read it: what it
// returns reads the next page, of at most so many items, and reports whether more may follow. An error
// ends the list.
func Stream[T any](begin func() func(most int) (page []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		next := begin()
		for most := firstPage; ; most = min(pageGrowth*most, largePage) {
			page, more, err := next(most)
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// Pages is a Stream of pages that follow each other: read returns at most so many items that follow one
// of them, nil: the first ones.
func Pages[T any](after *T, read func(after *T, most int) ([]T, error)) iter.Seq2[T, error] {
	return Stream(func() func(int) ([]T, bool, error) {
		behind := after
		return func(most int) (page []T, more bool, err error) {
			if page, err = read(behind, most); len(page) > 0 {
				behind = &page[len(page)-1]
			}
			return page, len(page) == most, err
		}
	})
}

// Collect returns the first items of a list, at most so many; 0: all.
func Collect[T any](list iter.Seq2[T, error], most int) (all []T, err error) {
	for item, err := range list {
		if err != nil {
			return nil, err
		}
		if all = append(all, item); len(all) == most {
			break
		}
	}
	return all, nil
}
