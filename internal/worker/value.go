package worker

// Optional returns a pointer to s, for a column where "" is null.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Value returns what p points to, or the zero value where a column was null.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
