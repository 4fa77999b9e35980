//go:build linux || darwin

// Command torture runs package torture on SQLite and on a private PostgreSQL server, with
// all faults that there are:
//
//	go run ./torture/cmd/torture -duration 5m
//	go run ./torture/cmd/torture -engine postgres -seed 17 -faults kill,server-kill
//	go run ./torture/cmd/torture -engine postgres -seed 17 -plan FOLDER/plan.json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bravellian/pawl/torture"
	"github.com/bravellian/pawl/torture/internal/load"
	"github.com/bravellian/pawl/torture/internal/nemesis"
	"github.com/bravellian/pawl/torture/internal/server"
	"github.com/bravellian/pawl/torture/internal/smalldisk"
)

func main() {
	if os.Getenv(load.Variable) != "" {
		os.Exit(torture.Process(context.Background()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// flags are what the command line says.
type flags struct {
	engine, faults, sequence, plan string
	o                              torture.Options
	fsync                          bool
}

func parse(args []string) (*flags, error) {
	var f flags
	set := flag.NewFlagSet("torture", flag.ContinueOnError)
	set.StringVar(&f.engine, "engine", "both", "sqlite, postgres or both")
	set.StringVar(&f.faults, "faults", "", "names of the faults to make, with commas; default: all")
	set.StringVar(&f.sequence, "sequence", "", "names of failovers and restores, with commas: a round about each, in this order; -faults are those of processes beside them")
	set.IntVar(&f.o.Rounds, "rounds", 0, "how many rounds, in place of -duration")
	set.StringVar(&f.plan, "plan", "", "a `file` plan.json, to make its faults at its times, in one round")
	set.BoolVar(&f.o.Pooled, "pooled", false, "the round of -plan is one behind a pooler")
	set.Uint64Var(&f.o.Seed, "seed", 0, "the seed; 0: one at random")
	set.DurationVar(&f.o.Duration, "duration", time.Minute, "how long to begin rounds, on each engine")
	set.DurationVar(&f.o.Round, "round", 30*time.Second, "how long there is load in a round")
	set.DurationVar(&f.o.Pace, "pace", 0, "mean time between transactions of a producer; 0: as fast as workers keep up")
	set.StringVar(&f.o.Dir, "dir", "", "a `folder` for what is kept; default: a temporary one")
	set.BoolVar(&f.o.Keep, "keep", false, "keep the folders of all rounds")
	set.BoolVar(&f.o.Rewinds, "rewinds", true, "with rounds in which the database goes back")
	set.BoolVar(&f.fsync, "fsync", false, "let the private server wait for the disk")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 || f.engine != "both" && f.engine != "sqlite" && f.engine != "postgres" {
		set.Usage()
		return nil, errors.New("wrong usage")
	}
	return &f, nil
}

func run(ctx context.Context, args []string) error {
	f, err := parse(args)
	if err != nil {
		return err
	}
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
	if f.plan != "" {
		text, err := os.ReadFile(f.plan)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &o.Plan); err != nil {
			return fmt.Errorf("%s: %w", f.plan, err)
		}
	}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "pawl-torture-"); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Command = []string{self}
	o.Log = func(format string, args ...any) {
		fmt.Printf(time.Now().UTC().Format("15:04:05.000 ")+format+"\n", args...)
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		if f.engine == engine || f.engine == "both" {
			err = errors.Join(err, on(ctx, engine, *o, f.fsync))
		}
	}
	return err
}

// write writes a report, with the sums of its rounds.
func write(name string, report *torture.Report) error {
	text, err := json.MarshalIndent(struct {
		Kinds  []torture.Kind        `json:"kinds"`
		Rounds []torture.RoundReport `json:"rounds"`
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
func smallDisk(engine, fault string, o *torture.Options) (folder string, unmount func()) {
	asked := slices.Concat(o.Faults, o.Sequence)
	if len(asked) > 0 && !slices.Contains(asked, fault) {
		return "", func() {}
	}
	disk, err := smalldisk.Mount(diskSize)
	if err != nil {
		fmt.Printf("%s: %s is not among the faults: %v\n", engine, fault, err)
		return "", func() {}
	}
	return disk.Dir(), func() { _ = disk.Unmount() }
}

// startServer starts a server that has its tables and its write-ahead log on small disks, where there are any.
func startServer(ctx context.Context, o *torture.Options, fsync bool, walDisk string) (*server.Server, error) {
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
func on(ctx context.Context, engine string, o torture.Options, fsync bool) error {
	fmt.Printf("%s: -engine %s -seed %d -duration %v -round %v\n", engine, engine, o.Seed, o.Duration, o.Round)
	o.Dir = filepath.Join(o.Dir, engine)
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	var unmount func()
	o.Disk, unmount = smallDisk(engine, nemesis.DiskFull, &o)
	defer unmount()
	if engine == "postgres" {
		walDisk, unmount := smallDisk(engine, nemesis.WALDiskFull, &o)
		defer unmount()
		s, err := startServer(ctx, &o, fsync, walDisk)
		if err != nil {
			return err
		}
		defer func() { _ = s.Stop() }() // its guard removes what is left
		o.URL, o.Server = s.URL(), s
	}
	report, err := torture.Run(ctx, o)
	if err != nil {
		return err
	}
	fmt.Print(report.Summary())
	if err := write(filepath.Join(o.Dir, "report.json"), report); err != nil {
		return err
	}
	for _, r := range report.Rounds {
		for _, v := range r.Violations {
			fmt.Printf("VIOLATION in %s: %s\n", r.Dir, v)
		}
	}
	return report.Err()
}
