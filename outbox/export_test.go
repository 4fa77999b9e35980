package outbox

import "time"

// LookAt has one transaction of Redrive and its like look at n failed messages.
func (o *Outbox) LookAt(n int) { o.failedPage = n }

// AwaitEvery has Await read again after d, always.
func (o *Outbox) AwaitEvery(d time.Duration) { o.awaits.soon, o.awaits.late, o.awaits.asked = d, d, d }

// Awaiting returns how many calls of Await wait.
func (o *Outbox) Awaiting() int64 { return o.awaits.n.Load() }
