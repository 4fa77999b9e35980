// Each uses every module of the project that is a library.
package main

import (
	"log"
	"net/http"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/sink/watermill"
	"github.com/bravellian/pawl/sink/webhook"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/sqlserver"
	"github.com/bravellian/pawl/traces"
	"github.com/bravellian/pawl/ui"
)

func main() {
	db, err := sqlite.Open("each.db")
	check(err)
	p, err := pawl.New(db, pawl.Options{})
	check(err)
	_, err = metrics.New(p, metrics.Options{})
	check(err)
	check(traces.Instrument(p, traces.Options{}))
	_, err = webhook.New(p, webhook.Options{Endpoint: &webhook.Endpoint{URL: "https://example.com/hook"}})
	check(err)
	watermill.Forward(p, "order.*", watermill.NewPublisher(p, watermill.PublisherOptions{}), watermill.ForwardOptions{})
	_, err = sqlserver.Open("sqlserver://user:password@host?database=shop")
	check(err)
	check(http.ListenAndServe("127.0.0.1:8080", ui.Handler(ui.Of(p), ui.Options{})))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
