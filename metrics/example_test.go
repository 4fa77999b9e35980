package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// A program shows its metrics at /metrics, where Prometheus fetches them.
func Example() {
	dir, err := os.MkdirTemp("", "pawl-metrics-")
	must(err)
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	must(err)
	defer func() { must(db.Close()) }()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	must(err)

	m, err := metrics.New(p, metrics.Options{}) // before Run
	must(err)
	registry := prometheus.NewRegistry() // or prometheus.MustRegister(m)
	must(registry.Register(m))
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := httptest.NewServer(mux) // or http.ListenAndServe(":9090", mux)
	defer server.Close()

	ctx := context.Background()
	must(p.Migrate(ctx))
	p.Handle("order.created", func(context.Context, *outbox.Message) error { return nil })
	_, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "order.created"})
	must(err)
	must(p.Run(ctx))

	answer, err := http.Get(server.URL + "/metrics")
	must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(err)
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.HasPrefix(line, "pawl_attempts_total") {
			fmt.Println(line)
		}
	}
	// Output:
	// pawl_attempts_total{outcome="acked",queue="default",topic="order.created"} 1
	// pawl_attempts_total{outcome="failed",queue="default",topic="order.created"} 0
	// pawl_attempts_total{outcome="retried",queue="default",topic="order.created"} 0
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
