package main

import (
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// nightly is the name of the job.
const nightly = "etl/nightly"

// Topics of the messages: the job's, one for each file, and what follows.
var (
	Start   = pawl.NewTopic[struct{}]("etl.start")
	Extract = pawl.NewTopic[File]("etl.extract")
	Report  = pawl.NewTopic[Run]("etl.report")
	Alert   = pawl.NewTopic[Run]("etl.alert")
)

// File is a file of a run.
type File struct {
	Run  string `json:"run"`
	Name string `json:"name"`
}

// Run is a run.
type Run struct {
	ID string `json:"id"`
}

// etl is the program: its own tables are in the database that pawl uses.
type etl struct {
	pawl *pawl.Pawl
	db   *sql.DB
	dir  string
}

const tables = `
CREATE TABLE IF NOT EXISTS cells (run text, file text, line integer, field text, value text, PRIMARY KEY (run, file, line, field));
CREATE TABLE IF NOT EXISTS revenue (run text, customer text, cents integer, PRIMARY KEY (run, customer));`

// prepare makes the tables, registers the handlers, and stores the job.
func (e *etl) prepare(ctx context.Context) error {
	if _, err := e.db.ExecContext(ctx, tables); err != nil {
		return err
	}
	Start.Handle(e.pawl, e.start)
	Extract.Handle(e.pawl, e.extract)
	Report.Handle(e.pawl, e.report)
	Alert.Handle(e.pawl, e.alert)
	// Skip: a night that the program slept through is not made up for. A run is made only when the last
	// one is over.
	return e.pawl.Jobs.Put(ctx, Start.Every("0 2 * * *", "Europe/Berlin", struct{}{}, job.Job{Name: nightly, Overlap: job.Skip}))
}

// start fans out an extract for each file. The join has the id of the message: if this is delivered
// again, it adds nothing.
func (e *etl) start(ctx context.Context, d *pawl.Delivery[struct{}]) error {
	paths, err := filepath.Glob(filepath.Join(e.dir, "*.csv"))
	if err != nil || len(paths) == 0 {
		return outbox.Permanent(fmt.Errorf("no CSV files in %s", e.dir))
	}
	run := d.ID.String()
	var steps []outbox.Message
	for _, path := range paths {
		steps = append(steps, Extract.With(File{Run: run, Name: filepath.Base(path)}))
	}
	wait := join.Wait{OnComplete: Report.With(Run{run}), OnFail: Alert.With(Run{run})}
	_, err = e.pawl.Joins.FanOut(ctx, join.Spec{ID: join.ID(d.ID), GroupingKey: nightly}, steps, wait)
	return err
}

// extract loads a file in one transaction. Lines that are there already stay: it may be delivered again.
func (e *etl) extract(ctx context.Context, d *pawl.Delivery[File]) error {
	lines, err := read(filepath.Join(e.dir, d.Body.Name))
	if err != nil {
		return outbox.Permanent(err) // the file will not get better: the join fails, and the alert is sent
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for i, line := range lines[1:] {
		for j, value := range line {
			if _, err := tx.ExecContext(ctx, "INSERT INTO cells VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", d.Body.Run, d.Body.Name, i, lines[0][j], value); err != nil {
				return err
			}
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return pawl.SetResult(ctx, d.Message, len(lines)-1)
}

func read(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	return lines, err
}
