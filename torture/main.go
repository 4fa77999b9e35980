//go:build linux || darwin

// Command torture runs producers, workers, claimers and holders of leases as processes on one
// database, makes faults meanwhile that follow from a seed, and compares afterwards what the
// processes did with what the database says. By default it does so on SQLite and on a private
// PostgreSQL server, with all faults that there are; with -db on your server, in schemas of its
// own that are dropped afterwards, with those faults that nobody else notices:
//
//	go run ./torture -duration 5m
//	go run ./torture -engine postgres -seed 17 -faults kill,server-kill
//	go run ./torture -engine postgres -seed 17 -plan FOLDER/plan.json
//	go run ./torture -db postgres://app@db.example/shop -duration 10m
//	PAWL_TEST_SQLSERVER=sqlserver://… go run ./torture -engine sqlserver -duration 10m
//
// It works in rounds: tables are made, processes work while faults happen, the faults end,
// what is left is worked off, the final state is read, and everything is checked. Faults
// that take committed work away, a restored backup for instance, have rounds of their own,
// which are checked knowing what may be lost.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/torture/internal/load"
	"github.com/bravellian/pawl/torture/internal/nemesis"
	"github.com/bravellian/pawl/torture/internal/server"
	"github.com/bravellian/pawl/torture/internal/smalldisk"
)

func main() {
	if os.Getenv(load.Variable) != "" {
		os.Exit(load.Main(context.Background()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// flags are what the command line says.
type flags struct {
	engine, faults, sequence, plan string
	o                              Options
	fsync                          bool
}

func parse(args []string) (*flags, error) {
	var f flags
	set := flag.NewFlagSet("torture", flag.ContinueOnError)
	set.StringVar(&f.engine, "engine", "both", "sqlite, postgres, both of them, or sqlserver: the server that "+sqlServer+" names")
	set.StringVar(&f.faults, "faults", "", "names of the faults to make, with commas; default: all")
	set.StringVar(&f.sequence, "sequence", "", "names of failovers and restores, with commas: a round about each, in this order; -faults are those of processes beside them")
	set.StringVar(&f.o.URL, "db", "", "the postgres:// `URL` of your server, in place of -engine; its user needs the right to create schemas")
	set.BoolVar(&f.o.HarmServer, "harm-server", false, "with -db: allow faults that others who use the server notice: all connections taken, defaults of the user changed and its connections ended")
	set.IntVar(&f.o.Workers, "workers", 3, "how many worker processes")
	set.IntVar(&f.o.Producers, "producers", 2, "how many producer processes")
	set.IntVar(&f.o.Rounds, "rounds", 0, "how many rounds, in place of -duration")
	set.IntVar(&f.o.Flows, "flows", 0, "how many durable flows there are to be on each engine, in place of -duration: producers begin flows above all")
	set.StringVar(&f.plan, "plan", "", "a `file` plan.json, to make its faults at its times, in one round")
	set.BoolVar(&f.o.Pooled, "pooled", false, "the round of -plan is one behind a pooler")
	set.Uint64Var(&f.o.Seed, "seed", 0, "the seed; 0: one at random")
	set.DurationVar(&f.o.Duration, "duration", time.Minute, "how long to begin rounds, on each engine")
	set.DurationVar(&f.o.Round, "round", 30*time.Second, "how long there is load in a round")
	set.DurationVar(&f.o.Pace, "pace", 0, "mean time between transactions of a producer; 0: as fast as workers keep up; with -db 20ms unless given")
	set.StringVar(&f.o.Dir, "dir", "", "a `folder` for what is kept; default: a temporary one, which is removed if nothing was found")
	set.BoolVar(&f.o.Keep, "keep", false, "keep the folders of all rounds")
	set.BoolVar(&f.o.Rewinds, "rewinds", true, "with rounds in which the database goes back; with -db none unless given")
	set.BoolVar(&f.fsync, "fsync", false, "let the private server wait for the disk")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 || !slices.Contains([]string{"both", "sqlite", "postgres", "sqlserver"}, f.engine) {
		set.Usage()
		return nil, errors.New("wrong usage")
	}
	if f.o.URL != "" {
		f.gently(set)
	}
	if f.engine == "sqlserver" {
		f.o.Schema = ownSchema()
		var err error
		if f.o.URL, err = dsn.ADO(os.Getenv(sqlServer)); err != nil {
			return nil, fmt.Errorf("%s: %w", sqlServer, err)
		}
	}
	return &f, f.check()
}

// sqlServer names the environment variable with the address of a SQL Server for tests.
const sqlServer = "PAWL_TEST_SQLSERVER"

// ownSchema is the name of schemas that nobody else uses.
func ownSchema() string { return fmt.Sprintf("pawl_torture_%08x", rand.Uint32()) }

// check refuses what would run no process, or no round.
func (f *flags) check() error {
	const most = 64
	switch {
	case f.o.Workers < 1 || f.o.Workers > most || f.o.Producers < 1 || f.o.Producers > most:
		return fmt.Errorf("-workers, -producers: not within 1 … %d", most)
	case f.o.Round < time.Second || f.o.Pace < 0 || f.o.Flows < 0:
		return errors.New("-round: shorter than a second, or -pace, -flows: negative")
	case f.engine == "sqlserver" && !strings.HasPrefix(f.o.URL, "sqlserver://"):
		return errors.New("-engine sqlserver: " + sqlServer + " names no server, by a sqlserver:// URL or an ADO.NET connection string")
	case f.engine != "sqlserver" && f.o.URL != "" && !strings.HasPrefix(f.o.URL, "postgres://") && !strings.HasPrefix(f.o.URL, "postgresql://"):
		return errors.New("-db: no postgres:// URL")
	default:
		return nil
	}
}

// gently sets what the server of somebody else gets where it was not given.
func (f *flags) gently(set *flag.FlagSet) {
	given := map[string]bool{}
	set.Visit(func(g *flag.Flag) { given[g.Name] = true })
	f.engine = "postgres"
	f.o.Schema = ownSchema()
	if !given["rewinds"] {
		f.o.Rewinds = false
	}
	if !given["pace"] {
		f.o.Pace = 20 * time.Millisecond
	}
}

// command runs what the command line says, and prints what happens.
func command(ctx context.Context, out io.Writer, args []string) error {
	f, err := parse(args)
	if err != nil {
		return err
	}
	o := &f.o
	if err := f.read(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Command = []string{self}
	o.Log = func(format string, args ...any) {
		fmt.Fprintf(out, time.Now().UTC().Format("15:04:05.000 ")+format+"\n", args...)
	}
	temporary := o.Dir == ""
	if temporary {
		if o.Dir, err = os.MkdirTemp("", "pawl-torture-"); err != nil {
			return err
		}
	}
	for _, engine := range []string{"sqlite", "postgres", "sqlserver"} {
		if f.engine == engine || f.engine == "both" && engine != "sqlserver" {
			err = errors.Join(err, on(ctx, out, engine, *o, f.fsync))
		}
	}
	if temporary && !o.Keep && (err == nil || ctx.Err() != nil) { // after an interrupt nothing is of interest
		err = errors.Join(err, os.RemoveAll(o.Dir))
	}
	return err
}

// read reads lists and the plan, and chooses a seed where none was given.
func (f *flags) read() error {
	o := &f.o
	if o.Seed == 0 {
		o.Seed = uint64(rand.Uint32())
	}
	if f.faults != "" {
		o.Faults = strings.Split(f.faults, ",")
	}
	if f.sequence != "" {
		o.Sequence = strings.Split(f.sequence, ",")
	}
	if f.plan == "" {
		return nil
	}
	text, err := os.ReadFile(f.plan)
	if err == nil {
		err = json.Unmarshal(text, &o.Plan)
	}
	if err != nil {
		return fmt.Errorf("-plan: %w", err)
	}
	return nil
}

// write writes a report, with the sums of its rounds.
func write(name string, report *Report) error {
	text, err := json.MarshalIndent(struct {
		Kinds  []Kind        `json:"kinds"`
		Rounds []RoundReport `json:"rounds"`
	}{report.Kinds(), report.Rounds}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// diskSize is room for what is written in a round of a minute, and for a standby's copy of it.
const diskSize = 512 << 20

// smallDisk mounts a disk that may be filled, if a fault may be made that fills it, and returns its folder and
// what unmounts it. Without the right to mount, the fault is left out.
func smallDisk(out io.Writer, engine, fault string, o *Options) (folder string, unmount func()) {
	asked := slices.Concat(o.Faults, o.Sequence)
	if len(asked) > 0 && !slices.Contains(asked, fault) {
		return "", func() {}
	}
	disk, err := smalldisk.Mount(diskSize)
	if err != nil {
		fmt.Fprintf(out, "%s: %s is not among the faults: %v\n", engine, fault, err)
		return "", func() {}
	}
	return disk.Dir(), func() { _ = disk.Unmount() }
}

// startServer starts a server that has its tables and its write-ahead log on small disks, where there are any.
func startServer(ctx context.Context, o *Options, fsync bool, walDisk string) (*server.Server, error) {
	settings := map[string]string{"max_connections": "120"}
	if !fsync {
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	s, err := server.Start(ctx, o.Dir, settings)
	if err != nil {
		return nil, err
	}
	if o.Disk != "" {
		err = s.OnDisk(ctx, o.Disk)
	}
	if err == nil && walDisk != "" {
		err = s.WALOnDisk(ctx, walDisk)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// on runs rounds on an engine.
func on(ctx context.Context, out io.Writer, engine string, o Options, fsync bool) error {
	fmt.Fprintf(out, "%s: -engine %s -seed %d -duration %v -round %v, in %s\n", engine, engine, o.Seed, o.Duration, o.Round, o.Dir)
	o.Dir = filepath.Join(o.Dir, engine)
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	if engine == "sqlserver" {
		fmt.Fprintln(out, "sqlserver: faults of the server, of its disk and clock, restores and poolers are not among the faults")
	}
	if o.URL == "" {
		stop, err := private(ctx, out, engine, &o, fsync)
		if err != nil {
			return err
		}
		defer stop()
	}
	report, err := Run(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprint(out, report.Summary())
	if err := write(filepath.Join(o.Dir, "report.json"), report); err != nil {
		return err
	}
	for _, r := range report.Rounds {
		for _, v := range r.Violations {
			fmt.Fprintf(out, "VIOLATION in %s: %s\n", r.Dir, v)
		}
	}
	return report.Err()
}

// private starts what may be harmed in every way: small disks and, on PostgreSQL, a server.
func private(ctx context.Context, out io.Writer, engine string, o *Options, fsync bool) (stop func(), err error) {
	disk, unmount := smallDisk(out, engine, nemesis.DiskFull, o)
	o.Disk = disk
	if engine != "postgres" {
		return unmount, nil
	}
	walDisk, unmountWAL := smallDisk(out, engine, nemesis.WALDiskFull, o)
	s, err := startServer(ctx, o, fsync, walDisk)
	if err != nil {
		unmountWAL()
		unmount()
		return nil, err
	}
	o.URL, o.Server = s.URL(), s
	return func() {
		_ = s.Stop() // its guard removes what is left
		unmountWAL()
		unmount()
	}, nil
}
