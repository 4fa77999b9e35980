// Package browsertest_test tests the dashboard in a real browser. It is a module of its own, so that
// what drives the browser is a dependency of these tests alone.
package browsertest_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

// browser is that of all tests.
var browser *chromium.Browser

// TestMain starts the browser. Without one the tests fail: they never pass by because it is missing.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" { // nothing is run
		os.Exit(m.Run())
	}
	var err error
	if browser, err = chromium.Start(os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "browsertest:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := browser.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "browsertest: closing the browser:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}
