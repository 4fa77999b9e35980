package main

import "testing"

// D-592: waiting messages get another topic from the command line.
func TestRetopic(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		d.must(`{"topic":"old.a","payload":1}`+"\n"+`{"topic":"old.b","payload":2}`, "enqueue")
		if out := d.must("", "retopic", "old.*", "new.*", "--dry-run"); out != "would have moved 2 messages\n" {
			t.Errorf("%q", out)
		}
		if out := d.must("", "retopic", "old.*", "new.*", "--queue", "q", "--json"); out != `{"moved":2,"kept":0,"running":0}`+"\n" {
			t.Errorf("%q", out)
		}
		if out := lines(d.must("", "ls", "--topic", "new.a", "--queue", "q", "-o", "id")); len(out) != 1 {
			t.Errorf("%q", out)
		}
	})
}

// D-594: a program that is rolled back may declare its jobs again.
func TestJobsForget(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if out := d.must("", "jobs", "forget", "shop"); out != "shop  no version is known\n" {
			t.Errorf("%q", out)
		}
		d.must("[]", "jobs", "sync", "-", "--owner", "shop")
		if out := d.must("", "jobs", "forget", "shop"); out != "shop  forgotten\n" {
			t.Errorf("%q", out)
		}
	})
}
