module github.com/bravellian/pawl/torture

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/bravellian/pawl v0.0.0
	github.com/google/uuid v1.6.0
)
