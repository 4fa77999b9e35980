package anydriver_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"testing"

	modernc "modernc.org/sqlite"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// late is a connector whose connections come too late: once they are there their caller has given up.
type late struct {
	driver.Connector
	giveUp *context.CancelFunc
}

func (l late) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.Connector.Connect(ctx)
	if *l.giveUp != nil {
		(*l.giveUp)()
	}
	return conn, err
}

// D-263: a caller that gives up while its connection is made does not make the database count as lost.
func TestConnectionThatComesTooLate(t *testing.T) {
	filled, path := migrated(t)
	enginetest.Must(t, filled.Close())
	var giveUp context.CancelFunc
	db, err := anydriver.OpenWith(func(dsn string) (driver.Connector, error) {
		c, err := modernc.NewConnector(dsn)
		return late{c, &giveUp}, err
	}, path)
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.CloseIdle()
	for i := range 8 { // the numbers of the files that were deleted are used again, but not for another log
		enginetest.Must(t, os.WriteFile(fmt.Sprint(path, ".taken", i), nil, 0o600))
	}
	other, err := sqlite.OpenURL(engine.OpenOptions{URL: "sqlite:" + path}) // which has a log open
	enginetest.Must(t, err)
	enginetest.Put(t, other, 1)

	ctx, cancel := context.WithCancel(t.Context())
	giveUp = cancel
	if err := db.CheckSchema(ctx); err == nil {
		t.Fatal("it did not come too late")
	}
	giveUp = nil
	enginetest.Must(t, other.Close()) // deletes the log, unless somebody else has it open
	again, err := sqlite.OpenURL(engine.OpenOptions{URL: "sqlite:" + path})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = again.Close() })
	enginetest.Put(t, again, 1)
	enginetest.Must(t, db.CheckSchema(t.Context()))
}
