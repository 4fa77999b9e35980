package cron_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/cron"
)

func typical() []string {
	return []string{"*/5 * * * *", "0 2 * * MON-FRI", "30 4 1,15 * *", "0 0 29 2 */7", "*/10 * 9-17 L-1,15W * 5#3"}
}

func BenchmarkParse(b *testing.B) {
	for _, expr := range typical() {
		b.Run(expr, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cron.Parse(expr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNext(b *testing.B) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	for _, expr := range append(typical(), "*/5 2 25-31 3 */7") {
		b.Run(expr, func(b *testing.B) {
			s, err := cron.Parse(expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, zone)
			for b.Loop() {
				if at.Year() > 2030 {
					at = time.Date(2026, 1, 1, 0, 0, 0, 0, zone)
				}
				next, ok := s.Next(at, zone)
				if ok {
					at = next
				}
			}
		})
	}
}
