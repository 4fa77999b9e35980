package prelude

var probes http.Handler
