package engine

import "iter"

// Pages grow: who wants the first items reads few, and who wants all asks seldom.
const (
	firstPage  = 64
	pageGrowth = 4
	largePage  = 500
)

// PageSizes are how many items to ask for, page by page.
func PageSizes() iter.Seq[int] {
	return func(yield func(int) bool) {
		for most := firstPage; yield(most); most = min(pageGrowth*most, largePage) {
		}
	}
}

// Pages is a list that is read while it is iterated over. read returns at most so many items that
// follow one of them, nil: the first ones. An error ends the list.
func Pages[T any](after *T, read func(after *T, most int) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		behind := after
		for most := range PageSizes() {
			page, err := read(behind, most)
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if len(page) < most {
				return
			}
			behind = &page[len(page)-1]
		}
	}
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
