package prelude

var (
	d      *pawltest.DB
	monday time.Time
)

func PlaceOrder(context.Context, *sql.DB, *pawl.Pawl, Order) error
func sendMail(context.Context, *pawl.Delivery[Order]) error
