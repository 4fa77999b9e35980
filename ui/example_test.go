package ui_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/ui"
)

// A program's own server has the dashboard below a path, for those whom it knows.
func Example() {
	dir, err := os.MkdirTemp("", "ui")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	who := func(r *http.Request) (ui.Access, error) {
		name := r.Header.Get("X-Authenticated-User") // from a proxy that signs people in
		if name == "" {
			return ui.Access{}, &ui.UnauthenticatedError{Challenge: "Bearer"}
		}
		return ui.Access{Name: name, Operator: name == "ann"}, nil
	}
	mux := http.NewServeMux()
	mux.Handle("/pawl/", http.StripPrefix("/pawl", ui.Handler(ui.Of(p), ui.Options{Authorize: who})))

	for _, name := range []string{"", "ann"} {
		r := httptest.NewRequest(http.MethodGet, "/pawl/audit", nil)
		r.Header.Set("X-Authenticated-User", name)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 401
	// 200
}
