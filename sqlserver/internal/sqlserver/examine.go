package sqlserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

var _ engine.Examiner = (*DB)(nil)

// Examinations returns what can be looked at on SQL Server.
func (db *DB) Examinations(l engine.ExamineLimits) []engine.Examination {
	x := &examiner{db, engine.WithDefaults(l)}
	return []engine.Examination{
		{Name: "server", Examine: x.server},
		{Name: "session", Examine: x.session},
		{Name: "objects", Examine: x.objects},
		{Name: "triggers", Examine: x.triggers},
		{Name: "durability", Examine: x.durability},
		{Name: "snapshots", Examine: x.snapshots},
		{Name: "space", Examine: x.space},
	}
}

type examiner struct {
	*DB
	limits engine.ExamineLimits
}

// doctorStatements are the statements of the doctor that only SQL Server has.
func doctorStatements() []engine.Operation {
	return []engine.Operation{
		doctorChanged{}, doctorObjects{}, doctorPages{}, doctorServer{}, doctorSession{}, doctorTransactions{}, doctorTriggers{}, doctorUnchecked{}, doctorVersions{},
	}
}

// doctorServer asks what kind of server this is, and how the database is set. One row.
type doctorServer struct{ engine.Rows[serverInfo] }

type serverInfo struct {
	Version           string
	Edition           int // 5: Azure SQL Database, 8: a managed instance
	Level             int // of compatibility
	ReadOnly, Standby bool
	Versioned         bool // READ_COMMITTED_SNAPSHOT
	Closes, Shrinks   bool // by itself
	Counts, Measures  bool // statistics are updated and made
	Delayed           int  // durability: 0 never, 1 where somebody asks for it, 2 always
	Verify            int  // of pages: 2 by checksums
}

// The oldest version and level of compatibility that pawl runs on. Azure counts versions
// in another way.
const (
	oldest      = 13
	oldestLevel = 130
	azure       = 5
	managed     = 8
)

func (x *examiner) server(ctx context.Context) ([]health.Finding, error) {
	info, _, err := engine.Get(ctx, x, doctorServer{})
	if err != nil {
		return nil, err
	}
	return checkServer(&info), nil
}

func checkServer(s *serverInfo) (found []health.Finding) {
	major, _, _ := strings.Cut(s.Version, ".")
	name := "SQL Server " + s.Version
	if n, err := strconv.Atoi(major); err == nil && n < oldest && s.Edition != azure && s.Edition != managed {
		found = append(found, engine.NewFinding(health.Problem, name, "Upgrade the server: pawl needs SQL Server 2016 (13.0) or later."))
	}
	if s.Level < oldestLevel {
		found = append(found, engine.NewFinding(health.Problem, fmt.Sprintf("the database's compatibility level is %d", s.Level),
			fmt.Sprintf("ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = %d or higher: JSON needs it", oldestLevel)))
	}
	switch {
	case s.ReadOnly:
		found = append(found, engine.NewFinding(health.Problem, "the database is READ_ONLY", "ALTER DATABASE CURRENT SET READ_WRITE"))
	case s.Standby:
		found = append(found, engine.NewFinding(health.Problem, "this is a replica that can only be read", "Connect to the primary, by the listener and without ApplicationIntent=ReadOnly in the connection string."))
	}
	if !s.Versioned {
		found = append(found, engine.NewFinding(health.Note, "READ_COMMITTED_SNAPSHOT is OFF: what reads messages waits for transactions that have changed them and are open",
			"ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE, if the database's other programs can do with it"))
	}
	if s.Closes {
		found = append(found, engine.NewFinding(health.Warning, "AUTO_CLOSE is ON: the database is closed and opened again whenever nobody is connected", "ALTER DATABASE CURRENT SET AUTO_CLOSE OFF"))
	}
	if s.Shrinks {
		found = append(found, engine.NewFinding(health.Warning, "AUTO_SHRINK is ON: files shrink and grow again, and indexes are fragmented", "ALTER DATABASE CURRENT SET AUTO_SHRINK OFF"))
	}
	if !s.Counts || !s.Measures {
		found = append(found, engine.NewFinding(health.Warning, "statistics are not made or updated by themselves: plans go by what the tables once were",
			"ALTER DATABASE CURRENT SET AUTO_CREATE_STATISTICS ON; ALTER DATABASE CURRENT SET AUTO_UPDATE_STATISTICS ON"))
	}
	return engine.OrOK(found, fmt.Sprintf("%s at compatibility level %d, which can be written to", name, s.Level))
}

// doctorSession reads the settings of a session by which filtered indexes can be used.
type doctorSession struct{ engine.Rows[sessionSetting] }

type sessionSetting struct {
	Name  string
	Value *int
}

// session looks at the settings of pawl's sessions. The driver makes them; the server's
// option "user options" or a login's trigger can have made others.
func (x *examiner) session(ctx context.Context) ([]health.Finding, error) {
	list, err := engine.Query(ctx, x, doctorSession{})
	if err != nil {
		return nil, err
	}
	return checkSession(list), nil
}

func checkSession(list []sessionSetting) (found []health.Finding) {
	for _, s := range list {
		// ARITHABORT is implied by ANSI_WARNINGS.
		if off := s.Name == "NUMERIC_ROUNDABORT"; s.Value != nil && s.Name != "ARITHABORT" && (*s.Value == 1) == off {
			found = append(found, engine.NewFinding(health.Problem, fmt.Sprintf("%s is %s in this session: the server refuses changes to tables with filtered indexes", s.Name, map[bool]string{true: "ON", false: "OFF"}[off]),
				"Take it out of where it comes from: the server's option \"user options\", or a trigger at logon."))
		}
	}
	return engine.OrOK(found, "the session's settings are those that filtered indexes need")
}

// durability looks at the settings by which a crash can take back commits.
func (x *examiner) durability(ctx context.Context) ([]health.Finding, error) {
	info, _, err := engine.Get(ctx, x, doctorServer{})
	if err != nil {
		return nil, err
	}
	return checkDurability(&info), nil
}

func checkDurability(s *serverInfo) (found []health.Finding) {
	const forced, checksum = 2, 2
	if s.Delayed == forced {
		found = append(found, engine.NewFinding(health.Warning, "DELAYED_DURABILITY = FORCED: a crash of the server takes back the last commits", "ALTER DATABASE CURRENT SET DELAYED_DURABILITY = DISABLED"))
	}
	if s.Verify != checksum && s.Edition != azure {
		found = append(found, engine.NewFinding(health.Warning, "PAGE_VERIFY is not CHECKSUM: what a disk destroys goes unnoticed", "ALTER DATABASE CURRENT SET PAGE_VERIFY CHECKSUM"))
	}
	return engine.OrOK(found, "commits are on disk, pages have checksums")
}

// age is microseconds as people read them.
func age(micros int64) string {
	d := time.Duration(micros) * time.Microsecond
	if d > time.Second {
		d = d.Round(time.Second)
	}
	return d.Round(time.Millisecond).String()
}

// unseen is what an examination says that this user may not make, or that this server has
// not got; nil for another error.
func unseen(err error, right string) []health.Finding {
	switch {
	case driverr.HasNumber(err, 229, 262, 297, 300, 371):
		return []health.Finding{engine.NewFinding(health.Note, "this user may not see it", "To see it: GRANT "+right+" TO this user")}
	case driverr.HasNumber(err, 208):
		return []health.Finding{engine.NewFinding(health.Note, "this server does not tell", "")}
	}
	return nil
}

const (
	seeServer   = "VIEW SERVER STATE"
	seeDatabase = "VIEW DATABASE STATE"
)
