package engine

// As returns the first of db and the databases that it wraps that is a T, as errors.As does
// for errors. Use it for optional capabilities ([Examiner], [Pooled], [FileWatcher],
// [Fingerprinter], [IdleCloser]): a type assertion tests only the outermost wrapper.
//
// A wrapper has a method Unwrap() DB that returns what it wraps, or nil.
func As[T any](db Database) (T, bool) {
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
