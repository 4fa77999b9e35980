package worker

// Optional returns a pointer to v, for a column where the zero value is null.
func Optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Value returns what p points to, or the zero value where a column was null.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
