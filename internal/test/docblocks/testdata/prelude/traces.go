package prelude

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

var provider trace.TracerProvider
