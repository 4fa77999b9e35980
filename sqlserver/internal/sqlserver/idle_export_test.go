package sqlserver

import "time"

// SetIdleLimit has connections asked whether they are there when they lay idle so long.
func SetIdleLimit(db *DB, d time.Duration) { db.idleLimit = d }
