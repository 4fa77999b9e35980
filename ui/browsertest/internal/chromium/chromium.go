// Package chromium runs the browser of the dashboard's tests and pictures: Debian's, which is
// installed where it is missing.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/bravellian/pawl/internal/test/apt"
)

// path is where Debian's package puts the browser.
const path = "/usr/bin/chromium"

// Host is a name of this machine that browsers do not take for one: without TLS its pages are not secure.
const Host = "shop.test"

// patience is how long the installation may take, and closing patience how long the browser may take
// to end before it is killed.
const (
	patience        = 10 * time.Minute
	closingPatience = 10 * time.Second
)

// Browser is one browser with a profile of its own, which is deleted with it.
type Browser struct {
	ctx context.Context // that of its first tab: the browser lives as long
	end context.CancelFunc
}

// Start starts a browser without a window. What an installation prints goes to log. The browser ends
// with Close, and by itself when this process ends without having called it.
func Start(log io.Writer) (*Browser, error) {
	if err := install(log); err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // it has no rights to make one in a container, and shows our own pages alone
		chromedp.DisableGPU,
		chromedp.Flag("headless", "new"),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP "+Host+" 127.0.0.1"),
		chromedp.Flag("ignore-certificate-errors", true), // that of a proxy is the test's own
	)
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, endFirst := chromedp.NewContext(allocator)
	b := &Browser{ctx, func() { endFirst(); endAllocator() }}
	if err := chromedp.Do(ctx); err != nil {
		b.end()
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return b, nil
}

// install makes sure that there is a browser.
func install(log io.Writer) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := apt.Install(ctx, log, "chromium")
	if _, missing := os.Stat(path); missing == nil {
		return nil
	}
	if err == nil {
		err = errors.New("the package chromium brought none")
	}
	return fmt.Errorf("there is no browser here (%s); install one: %w", path, err)
}

// Close ends the browser and waits for its process.
func (b *Browser) Close() error {
	ctx, cancel := context.WithTimeout(b.ctx, closingPatience)
	defer cancel()
	err := chromedp.Cancel(ctx)
	b.end()
	return err
}

// Tab opens a tab with cookies and storage of its own, which behaves as the one that somebody works
// in, however many there are. It is closed by the function that comes with it.
func (b *Browser) Tab() (context.Context, context.CancelFunc, error) {
	return focused(chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext()))
}

// Beside opens another tab beside one: the two share cookies and connections.
func Beside(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return focused(chromedp.NewContext(ctx))
}

func focused(ctx context.Context, end context.CancelFunc) (context.Context, context.CancelFunc, error) {
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		end()
		return nil, nil, fmt.Errorf("opening a tab: %w", err)
	}
	return ctx, end, nil
}

// Dark shows pages as to who prefers dark colours, or light ones.
func Dark(dark bool) chromedp.Action[chromedp.Void] {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// Before runs a script in every page before those of the page.
func Before(script string) chromedp.Action[chromedp.Void] {
	return call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Zone makes a tab one of another time zone, and of Britain's way to write times.
func Zone(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		call(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name}),
		call(emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "en-GB"}),
	)
}

// NoScripts keeps pages from running scripts.
func NoScripts() chromedp.Action[chromedp.Void] {
	return call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// call is a command of the browser's protocol as a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}
