// Package browsertest holds the tests of the dashboard in a real browser. It is a module of its own,
// so that what drives the browser is a dependency of these tests alone.
package browsertest
