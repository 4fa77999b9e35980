package op

import "time"

// Clock is what time it is, by the database's clock.
type Clock struct{ Now time.Time }
