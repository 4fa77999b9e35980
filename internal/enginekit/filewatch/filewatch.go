// Package filewatch reports that somebody writes to a file: this process or another one of the
// same machine. A report is a hint, not a promise: writes of other machines to a shared file
// system are not reported, and a report comes with the first write, before a transaction that it
// belongs to is committed. So whoever uses it has to poll as well, rarely.
//
// Only Linux has it (inotify), with one instance a process however many files there are, and not
// in a bubble of testing/synctest.
package filewatch

// Watch reports writes to one file. It is safe for concurrent use.
type Watch struct {
	report func()

	// Guarded by the instance's lock.
	id     int    // of the file; 0: none
	path   string // of the file when it was armed last
	armed  bool
	closed bool
}

// New returns a watch that is not armed yet. It calls report, which must not block, once after
// it was armed, and when the file is deleted.
func New(report func()) *Watch { return &Watch{report: report} }

// Arm makes the next write to the file that is at path now be reported. It returns false if the
// system cannot report it.
func (w *Watch) Arm(path string) bool { return arm(w, path) }

// Disarm ends that.
func (w *Watch) Disarm() { disarm(w) }

// Close releases the watch, which cannot be armed again. The last one ends the goroutine that
// reports; report may be called once more while Close runs.
func (w *Watch) Close() { release(w) }
