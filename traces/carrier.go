package traces

import (
	"slices"
	"strings"
)

// headers are a message's, as propagators read and write them. Names count in any
// case: what came in by HTTP has "Traceparent".
type headers map[string]string

// Get returns a header, "" if there is none.
func (h headers) Get(name string) string {
	if v, ok := h[name]; ok {
		return v
	}
	for k, v := range h {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// Set puts a header.
func (h headers) Set(name, value string) { h[name] = value }

// Keys returns the headers' names.
func (h headers) Keys() []string {
	names := make([]string, 0, len(h))
	for k := range h {
		names = append(names, k)
	}
	return names
}

// hasAny reports whether one of the names is there.
func (h headers) hasAny(names []string) bool {
	for k := range h {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(k, name) }) {
			return true
		}
	}
	return false
}
