package metrics

// Names are the names of all metrics, of a single database or of a fleet.
func Names(stores bool) (names []string) {
	for _, f := range build(stores, Options{}).catalogue.all {
		names = append(names, f.name)
	}
	return names
}
