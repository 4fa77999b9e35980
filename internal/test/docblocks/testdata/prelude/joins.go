package prelude

type (
	Source   struct{}
	Customer struct{}
	Summary  struct{ Rows int }
)

var (
	customer string
	o        Order
	monday   time.Time
	n        int

	extract   = pawl.NewTopic[Source]("extract")
	transform = pawl.NewTopic[Customer]("transform")

	Checked = pawl.NewTopic[Order]("checked")
	Packed  = pawl.NewTopic[Order]("packed")
	Billed  = pawl.NewTopic[Order]("billed")
	Shipped = pawl.NewTopic[Order]("shipped")
	Alert   = pawl.NewTopic[Order]("alert")
)
