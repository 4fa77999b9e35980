package outbox

// LookAt has one transaction of Redrive and its like look at n failed messages.
func (o *Outbox) LookAt(n int) { o.failedPage = n }
