package ui

import (
	"encoding/json"
	"maps"

	"golang.org/x/crypto/bcrypt"
)

// Compare has f in place of bcrypt until restore is called.
func Compare(f func(hash, password []byte) error) (restore func()) {
	compare = f
	return func() { compare = bcrypt.CompareHashAndPassword }
}

// Routes are what a handler answers to, by method and path: "GET /messages/{id}".
func Routes() (all []string) {
	for _, p := range pages() {
		all = append(all, "GET "+p.pattern)
	}
	for _, r := range resources() {
		all = append(all, r.method()+" /api/v1/"+r.path)
	}
	for name := range maps.Keys(changes()) {
		all = append(all, "POST /do/"+name)
	}
	return append(all, "GET /api/v1/stores", "GET /api/v1/openapi.json", "GET /assets/pawl.css")
}

// Description is that of the API, made from the resources.
func Description() ([]byte, error) {
	text, err := json.MarshalIndent(openAPI(), "", " ")
	return append(text, '\n'), err
}
