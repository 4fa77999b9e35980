// Command screenshots makes the pictures of the dashboard that its documentation shows: a shop on
// SQLite works for most of an hour, then it serves the dashboard and photographs its pages.
//
//	go run ./ui/browsertest/screenshots [-dir docs/screenshots] [-busy 50m]
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bravellian/pawl/ui"
	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

// maxBytes is how large a picture may be: they are part of every clone.
const maxBytes = 200_000

// patience bounds what one picture takes.
const patience = time.Minute

// picture is one picture of a page.
type picture struct {
	name, path    string
	width, height int64
	dark          bool
}

func main() {
	dir := flag.String("dir", "docs/screenshots", "the `directory` to write to")
	busy := flag.Duration("busy", 50*time.Minute, "for how `long` the shop works before")
	flag.Parse()
	if err := run(*dir, *busy); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(dir string, busy time.Duration) error {
	tmp, err := os.MkdirTemp("", "pawl-screenshots-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	ctx, cancel := context.WithTimeout(context.Background(), busy+2*patience)
	defer cancel()
	s, err := play(ctx, filepath.Join(tmp, "shop.db"), busy)
	if err != nil {
		return err
	}
	defer s.end()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: ui.Handler(ui.Of(s.Pawl), ui.Options{}), ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	return photograph("http://"+listener.Addr().String()+"/", dir, []picture{
		{name: "overview", width: 1280, height: 800},
		{name: "topic", path: "topic?name=invoice.made", width: 1280, height: 800},
		{name: "failed", path: "failed", width: 1280, height: 800},
		{name: "message", path: "messages/" + s.failed.String(), width: 1280, height: 800},
		{name: "jobs", path: "jobs", width: 1280, height: 800},
		{name: "dark", path: "topics", width: 1280, height: 800, dark: true},
		{name: "phone", width: 390, height: 800},
	})
}

// photograph makes pictures of the dashboard at an address.
func photograph(at, dir string, all []picture) (err error) {
	browser, err := chromium.Start(os.Stderr)
	if err != nil {
		return err
	}
	defer func() {
		if closing := browser.Close(); err == nil {
			err = closing
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range all {
		if err := p.take(browser, at, filepath.Join(dir, p.name+".png")); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// take makes one picture.
func (p picture) take(browser *chromium.Browser, at, file string) error {
	tab, end, err := browser.Tab()
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeout(tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromium.Zone("UTC"), chromium.Dark(p.dark), chromedp.EmulateViewport(p.width, p.height), chromedp.Navigate(at+p.path)); err != nil {
		return err
	}
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	if len(data) > maxBytes {
		return fmt.Errorf("it has %d bytes, more than %d", len(data), maxBytes)
	}
	return os.WriteFile(file, data, 0o644)
}
