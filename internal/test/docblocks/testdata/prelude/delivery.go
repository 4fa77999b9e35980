package prelude

var (
	Reading                            = pawl.NewTopic[float64]("reading")
	book, publish, relay, render, call = handle, handle, handle, handle, handle
)
