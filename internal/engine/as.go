package engine

// As returns db as a T or, if it is none, the first database below its wrappers
// that is one, as errors.As does for errors. What only some databases can do
// ([Examiner], [Pooled], [Losable], [Watched], [Idler]) is found with it: a type assertion
// sees the outermost wrapper alone.
//
// A wrapper has a method Unwrap() DB that returns what it wraps, or nil.
func As[T any](db DB) (T, bool) {
	for db != nil {
		if t, ok := db.(T); ok {
			return t, true
		}
		w, ok := db.(interface{ Unwrap() DB })
		if !ok {
			break
		}
		db = w.Unwrap()
	}
	var none T
	return none, false
}
