package probe_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health/probe"
	"github.com/bravellian/pawl/sqlite"
)

// A server answers the probes of Kubernetes, or of a load balancer.
func Example() {
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}

	h := probe.Handler(p, probe.Options{})
	mux := http.NewServeMux()
	mux.Handle("GET /livez", h)
	mux.Handle("GET /readyz", h)
	for _, path := range []string{"/livez", "/readyz"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, w.Code)
	}
	// Output:
	// /livez 200
	// /readyz 200
}
