package work

// Value returns what p points to, or the zero value where a column was null.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
