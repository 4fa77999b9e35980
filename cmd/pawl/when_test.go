package main

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// D-707: each option that is a time is read by the one reader, and says so: WHEN.
func TestWhenFlags(t *testing.T) {
	var c cli
	parser, err := (&app{}).parser(&c)
	if err != nil {
		t.Fatal(err)
	}
	times := 0
	for _, command := range parser.Model.Leaves(false) {
		for _, f := range command.Flags {
			is := f.Target.Type() == reflect.TypeFor[ahead]() || f.Target.Type() == reflect.TypeFor[ago]()
			if is != (f.PlaceHolder == "WHEN") || f.PlaceHolder == "TIME" || strings.Contains(f.Help, "RFC 3339") {
				t.Errorf("%s --%s=%s %s: %v", command.Path(), f.Name, f.PlaceHolder, f.Help, f.Target.Type())
			}
			if is {
				times++
			}
		}
	}
	if times < 14 {
		t.Errorf("%d options", times)
	}
}

// D-707: what is due now is due by the database's clock, however this machine's differs.
func TestDueNow(t *testing.T) {
	for text, due := range map[string]bool{"now": false, "0s": false, "1960-01-01T00:00:00Z": false, "1h": true, "2d": true, "2131-01-31T12:00:00Z": true} {
		var a ahead
		if err := a.UnmarshalText([]byte(text)); err != nil || a.due().IsZero() == due {
			t.Errorf("%s: %v, %v", text, a.due(), err)
		}
	}
	var a ago
	if err := a.UnmarshalText([]byte("2d")); err != nil || a.age != 48*time.Hour {
		t.Error(a, err)
	}
}
