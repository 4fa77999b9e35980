package prelude

type (
	Source   struct{}
	Customer struct{}
	Summary  struct{}
)

var (
	customer  string
	summary   []byte
	extract   = pawl.NewTopic[Source]("extract")
	transform = pawl.NewTopic[Customer]("transform")
)
