package job_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// cleanup is what the handler of a clean-up is told.
type cleanup struct {
	RetentionDays   int  `json:"retentionDays"`
	IncludeArchives bool `json:"includeArchives"`
}

// Recurring jobs are stored at every start of the program; storing them again
// changes nothing. A handler of the job's topic does the work.
func Example() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}

	for _, j := range []job.Job{
		{Name: "daily-cleanup", Topic: "cleanup.run", Schedule: "0 2 * * *", Zone: "America/New_York", Payload: []byte(`{"retentionDays":90,"includeArchives":true}`)},
		{Name: "weekly-report", Topic: "report.make", Schedule: "0 9 * * MON", Payload: []byte(`{"recipients":["admin@example.com"]}`)},
		{Name: "heartbeat", Topic: "heartbeat", Schedule: "* * * * * *"}, // a sixth field in front: seconds
	} {
		if err := p.Jobs.Put(ctx, j); err != nil {
			log.Fatal(err)
		}
	}
	for j, err := range p.Jobs.List(ctx, job.ListOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(j.Name, "is due next:", j.NextRunAt.After(j.CreatedAt))
	}

	p.Handle("heartbeat", func(_ context.Context, m *outbox.Message) error {
		fmt.Println("first run of", m.Headers[job.HeaderJob])
		stop() // in a program this would be a signal to end
		return nil
	})
	fmt.Println("stopped, error:", p.Run(ctx))
	// Output:
	// daily-cleanup is due next: true
	// heartbeat is due next: true
	// weekly-report is due next: true
	// first run of heartbeat
	// stopped, error: <nil>
}

// A job can be run now, beside its schedule. What became of its runs can be asked.
func ExampleJobs_Trigger() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	run := pawl.NewTopic[cleanup]("cleanup.run")
	err = p.Jobs.Put(ctx, run.Every("0 2 * * *", "", cleanup{RetentionDays: 90, IncludeArchives: true}, job.Job{Name: "daily-cleanup"}))
	if err != nil {
		log.Fatal(err)
	}

	id, err := p.Jobs.Trigger(ctx, "daily-cleanup")
	if err != nil {
		log.Fatal(err)
	}
	r, err := p.Jobs.GetRun(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the run is", r.Status)

	run.Handle(p, func(_ context.Context, d *pawl.Delivery[cleanup]) error {
		fmt.Printf("deleting what is older than %d days, archives: %v\n", d.Body.RetentionDays, d.Body.IncludeArchives)
		return nil
	})
	if err := p.Run(ctx); err != nil {
		log.Fatal(err)
	}
	for r, err := range p.Jobs.Runs(ctx, "daily-cleanup", job.RunsOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("the run has", r.Status, "- triggered:", r.Triggered)
	}
	// Output:
	// the run is pending
	// deleting what is older than 90 days, archives: true
	// the run has succeeded - triggered: true
}

// Putting a job again changes its schedule and payload. Deleting it takes its
// pending runs back.
func ExampleJobs_Put() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}

	backup := job.Job{Name: "data-backup", Topic: "backup.run", Schedule: "0 3 * * *", Payload: []byte(`{"retentionDays":30}`)}
	show := func() {
		j, err := p.Jobs.Get(ctx, "data-backup")
		if err != nil {
			fmt.Println("not found:", errors.Is(err, job.ErrNotFound))
			return
		}
		fmt.Println(j.Schedule, string(j.Payload), "enabled:", j.Enabled)
	}
	if err := p.Jobs.Put(ctx, backup); err != nil {
		log.Fatal(err)
	}
	show()
	backup.Schedule, backup.Payload = "0 2 * * *", []byte(`{"retentionDays":45}`)
	if err := p.Jobs.Put(ctx, backup); err != nil {
		log.Fatal(err)
	}
	show()
	backup.Schedule = "0 0 30 2 *"
	fmt.Println(p.Jobs.Put(ctx, backup))
	if err := p.Jobs.SetEnabled(ctx, "data-backup", false); err != nil {
		log.Fatal(err)
	}
	show()
	if err := p.Jobs.Delete(ctx, "data-backup"); err != nil {
		log.Fatal(err)
	}
	show()
	// Output:
	// 0 3 * * * {"retentionDays":30} enabled: true
	// 0 2 * * * {"retentionDays":45} enabled: true
	// invalid argument: schedule: invalid cron expression: day of month: no year has such a day (at byte 4)
	// 0 2 * * * {"retentionDays":45} enabled: false
	// not found: true
}

// Explain tells what an expression means before it is stored.
func ExampleExplain() {
	now := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC) // a Thursday
	for _, schedule := range []string{
		"0 */5 * * * *",    // every 5 minutes
		"0 0 * * * *",      // every hour
		"0 30 2 * * *",     // every day at 2:30
		"0 0 9 * * 1",      // every Monday at 9
		"0 0 0 1 * *",      // every first day of the month
		"0 0 18 * * 1-5",   // every weekday at 6 in the evening
		"30 2 * * MON-SUN", // five fields: without seconds
	} {
		words, next, err := job.Explain(schedule, "America/New_York", now, 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-16s  %s: %s\n", schedule, words, next[0].Format("Mon 2 Jan 15:04 MST"))
	}
	_, _, err := job.Explain("0 25 * * *", "", now, 1)
	fmt.Println(err)
	// Output:
	// 0 */5 * * * *     every 5 minutes: Thu 5 Mar 07:05 EST
	// 0 0 * * * *       every hour: Thu 5 Mar 08:00 EST
	// 0 30 2 * * *      at 02:30 every day: Fri 6 Mar 02:30 EST
	// 0 0 9 * * 1       at 09:00 on Monday: Mon 9 Mar 09:00 EDT
	// 0 0 0 1 * *       at 00:00 on day 1 of the month: Wed 1 Apr 00:00 EDT
	// 0 0 18 * * 1-5    at 18:00 on weekdays: Thu 5 Mar 18:00 EST
	// 30 2 * * MON-SUN  at 02:30 every day: Fri 6 Mar 02:30 EST
	// invalid argument: schedule: invalid cron expression: hour: not within 0-23 (at byte 2)
}

// When clocks go forward a time that there is not runs right after the gap.
func ExampleExplain_summerTime() {
	_, next, err := job.Explain("30 2 * * *", "America/New_York", time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range next {
		fmt.Println(t.Format("2 Jan 15:04 MST"))
	}
	// Output:
	// 7 Mar 02:30 EST
	// 8 Mar 03:00 EDT
	// 9 Mar 02:30 EDT
}

// A program declares its jobs when it starts. Those that it no longer declares are removed.
func ExampleJobs_Sync() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}

	report := job.Job{Name: "report", Topic: "report", Schedule: "0 6 * * MON-FRI", Zone: "Europe/Berlin"}
	cleanup := job.Job{Name: "cleanup", Topic: "cleanup", Schedule: "@daily"}
	for version, jobs := range [][]job.Job{{report, cleanup}, {report}} {
		synced, err := p.Jobs.Sync(ctx, "shop", jobs, job.SyncOptions{Version: fmt.Sprint(version)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("stored", synced.Stored, "unchanged", synced.Unchanged, "removed", synced.Removed)
	}
	// Output:
	// stored [cleanup report] unchanged [] removed []
	// stored [] unchanged [report] removed [cleanup]
}
