// What readers of every page have. The tests of the documentation put this before each Go
// block; what a page's own file or a block declares under the same name takes its place.
package prelude

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/health/probe"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/receive"
	"github.com/bravellian/pawl/sink/watermill"
	"github.com/bravellian/pawl/sink/webhook"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/sqlite/anydriver"
	"github.com/bravellian/pawl/sqlserver"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/traces"
	"github.com/bravellian/pawl/ui"

	"github.com/google/uuid"
	pgx "github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Order struct {
	Number int    `json:"number"`
	Email  string `json:"email"`
}

var OrderCreated = pawl.NewTopic[Order]("order.created")

var (
	ctx   context.Context
	p     *pawl.Pawl
	f     *fleet.Fleet
	db    *sql.DB
	tx    *sql.Tx
	mux   *http.ServeMux
	order Order
	body  []byte
	path  string
	url   string
	err   error
)

func check(err error)

var handle outbox.Handler

var (
	id  outbox.MessageID
	who func(*http.Request) (ui.Access, error)
)
