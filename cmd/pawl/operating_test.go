//go:build unix

package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/guide"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

const operatingGuide = "../../docs/operating.md"

// What the guide says for operators is what happens, command by command.
func TestOperatingGuide(t *testing.T) {
	scenes := guide.Read(t, operatingGuide)
	prepared := map[string]func(*testing.T, guide.Scene){
		"Poison messages":                    inBoth(poison),
		"Database outage":                    inPostgres(dead),
		"SQLite file moved or deleted":       inSQLite(fileGone),
		"No handler for a topic":             inBoth(forgot),
		"Pause and resume":                   inBoth(migrated),
		"Retry, discard, cancel, reschedule": inBoth(waiting),
		"Audit trail":                        inBoth(twoFailed),
		"Fleets":                             inFleet,
	}
	if len(scenes) != len(prepared) {
		t.Errorf("%d sections have commands, %d are prepared for", len(scenes), len(prepared))
	}
	for _, one := range scenes {
		t.Run(one.Title, func(t *testing.T) {
			play := prepared[one.Title]
			if play == nil {
				t.Fatal("its commands were never run")
			}
			play(t, one)
		})
	}
}

func inBoth(prepare func(*stage)) func(*testing.T, guide.Scene) {
	return func(t *testing.T, one guide.Scene) {
		onEngines(t, func(t *testing.T, d *database) {
			s := onStage(t, d)
			prepare(s)
			s.play(one)
		})
	}
}

func inPostgres(prepare func(*stage, *proxytest.Proxy)) func(*testing.T, guide.Scene) {
	return func(t *testing.T, one guide.Scene) {
		d := onPostgres(t)
		d.must("", "migrate")
		proxy := proxytest.New(t, testpg.URL(t))
		url := proxy.URL(testpg.URL(t))
		d.flags[0] = "--db=" + url
		s := onStage(t, d)
		s.replace = append(s.replace, "postgres://app@db.example/shop", url)
		prepare(s, proxy)
		s.play(one)
	}
}

func inSQLite(prepare func(*stage)) func(*testing.T, guide.Scene) {
	return func(t *testing.T, one guide.Scene) {
		disk := filepath.Join(t.TempDir(), "disk")
		if err := os.Mkdir(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		s := onStage(t, &database{t, []string{"--db=sqlite:" + filepath.Join(disk, "shop.db")}})
		prepare(s)
		s.play(one)
	}
}

// poison: a message that can never be handled, some that a mistake in the program
// stops, and many that are well.
func poison(s *stage) {
	s.script("send-mail.sh", `mail=$(cat)
case $mail in
*nobody*) echo "no such address" >&2; exit 65;;
*ü*) [ -e corrected ] || { echo "cannot encode the name" >&2; exit 65; };;
esac`)
	s.happens["the program is corrected"] = func() { s.script("corrected", "") }
	mails := `{"topic":"mail","payload":"for ann"}` + "\n" + `{"topic":"mail","payload":"to nobody","key":"0198c9a0-5d7e-8a41-9c3f-000000000007"}` + "\n"
	mails += strings.Repeat(`{"topic":"mail","payload":"für Jürgen"}`+"\n", 3) + strings.Repeat(`{"topic":"mail","payload":"for bob"}`+"\n", 20)
	s.must(mails, "enqueue")
	s.background("", []string{"work", "--topic", "mail", "--exec", "./send-mail.sh"})
}

// dead: a server that goes away while there is work, and comes back.
func dead(s *stage, proxy *proxytest.Proxy) {
	s.script("send-mail.sh", "cat >> sent; echo >> sent; sleep 0.05")
	s.must(strings.Repeat("mail\n", 40), "enqueue", "--topic", "mail")
	s.happens["the server goes away"] = func() {
		eventually(s.t, "work to be done", func() bool { return strings.Count(read(s.t, "sent"), "\n") > 5 })
		proxy.Refuse(true)
		proxy.Cut()
	}
	s.happens["the server is back"] = func() { proxy.Refuse(false) }
}

// fileGone: a file that goes away with its disk, and one that somebody writes to
// without coming to an end.
func fileGone(s *stage) {
	s.script("send-mail.sh", "")
	s.must("mail\n", "enqueue", "--topic", "mail", "--due", "1h")
	file := strings.TrimPrefix(s.flags[0], "--db=sqlite:")
	s.replace = append(s.replace, "/var/lib/shop.db", file)
	s.background("", []string{"work", "--topic", "mail", "--exec", "./send-mail.sh", "--listen", "127.0.0.1:" + s.replace[1]})
	eventually(s.t, "the worker to be ready", func() bool { return s.shell("curl -s localhost:"+s.replace[1]+"/readyz") == "ok\n" })
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			s.t.Fatal(err)
		}
	}
	disk := filepath.Dir(file)
	s.happens["the disk goes away"] = func() { move(disk, disk+".away") }
	s.happens["the disk is back"] = func() { move(disk+".away", disk) }
	s.happens["somebody locks the file"] = func() {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = db.Close() })
		db.SetMaxOpenConns(1)
		if _, err := db.ExecContext(s.t.Context(), "BEGIN IMMEDIATE"); err != nil {
			s.t.Fatal(err)
		}
	}
}

// forgot: messages of a topic that no worker handles.
func forgot(s *stage) {
	s.script("send-mail.sh", "")
	s.script("handle.sh", "")
	s.happens["the old program stops"] = s.halt
	s.must(`{"topic":"invoice","payload":"17","key":"0198c9a0-5d7e-8a41-9c3f-000000000017"}
{"topic":"invoice","payload":"18","key":"0198c9a0-5d7e-8a41-9c3f-000000000018"}
{"topic":"mail","payload":"for ann"}`, "enqueue")
}

func migrated(s *stage) { s.must("", "migrate") }

// waiting: a message that waits, and one that is over.
func waiting(s *stage) {
	s.must(`{"topic":"mail","payload":"","key":"0198c9a0-5d7e-8a41-9c3f-000000000022"}`, "enqueue")
	s.must("", "work", "--topic", "mail", "--exec", "true", "--drain", "--quiet")
	s.must(`{"topic":"mail","payload":"","key":"0198c9a0-5d7e-8a41-9c3f-000000000021"}`, "enqueue")
}

func twoFailed(s *stage) {
	s.must("1\n2\n", "enqueue", "--topic", "mail")
	s.leaves("work", "--topic", "mail", "--exec", "exit 65", "--drain", "--quiet")
}

// inFleet plays a scene of two tenants, and a file that is none.
func inFleet(t *testing.T, one guide.Scene) {
	s := onStage(t, &database{t: t})
	if err := os.Mkdir("tenants", 0o700); err != nil {
		t.Fatal(err)
	}
	breakStore(t, "tenants")
	for _, tenant := range []string{"acme", "initech"} {
		s.flags = []string{"--db=sqlite:tenants/" + tenant + ".db"}
		s.must("x", "enqueue", "--topic", "mail")
	}
	s.flags = []string{"--db=sqlite:tenants/acme.db"}
	s.leaves("work", "--topic", "mail", "--exec", "exit 65", "--drain", "--quiet")
	s.must("x", "enqueue", "--topic", "mail")
	s.play(one)
}
