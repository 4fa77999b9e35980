package filewatch

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// armedMask has the events of a file of which a watch is armed, idleMask those of the others.
	// A file stays watched without being armed: that takes one system call to arm, and no event
	// to disarm.
	idleMask  = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ATTRIB
	armedMask = idleMask | unix.IN_MODIFY

	// retryAfter is how long nothing is watched after the system had no instance left: by
	// default a user may have 128, in all processes.
	retryAfter = time.Minute
)

// instance is the inotify instance of the process. It exists while there are watches.
type instance struct {
	mu    sync.Mutex
	fd    int
	file  *os.File // fd; nil: there is none
	ended chan struct{}
	retry time.Time
	files map[int]map[*Watch]struct{} // the watches of a file, by its id
}

var process instance //nolint:gochecknoglobals // a user may have 128 of them: one serves all files of the process

func arm(w *Watch, path string) bool { return process.arm(w, path) }

func disarm(w *Watch) { process.disarm(w) }

func release(w *Watch) { process.release(w) }

func (p *instance) arm(w *Watch, path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.closed || path == "" || w.id == 0 && inBubble() || p.startLocked() != nil {
		return false
	}
	id, err := unix.InotifyAddWatch(p.fd, path, armedMask)
	if err != nil { // there is no such file, or the user's watches are used up
		p.forgetLocked(w)
		return false
	}
	if id != w.id {
		p.forgetLocked(w)
		if p.files[id] == nil {
			p.files[id] = map[*Watch]struct{}{}
		}
		p.files[id][w] = struct{}{}
	}
	w.id, w.path, w.armed = id, path, true
	return true
}

func (p *instance) disarm(w *Watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.armed {
		w.armed = false
		p.lowerLocked(w)
	}
}

// lowerLocked lowers the mask of w's file unless a watch of it is armed.
func (p *instance) lowerLocked(w *Watch) {
	for other := range p.files[w.id] {
		if other.armed {
			return
		}
	}
	id, err := unix.InotifyAddWatch(p.fd, w.path, idleMask)
	if err == nil && len(p.files[id]) == 0 { // another file is at the path by now
		_, _ = unix.InotifyRmWatch(p.fd, uint32(id))
	}
}

func (p *instance) release(w *Watch) {
	p.mu.Lock()
	w.closed = true
	p.forgetLocked(w)
	var ended chan struct{}
	if p.file != nil && len(p.files) == 0 {
		ended = p.ended
		_ = p.file.Close()
		p.file = nil
	}
	p.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// forgetLocked removes w from its file, and the file if that was its last watch.
func (p *instance) forgetLocked(w *Watch) {
	id := w.id
	w.id, w.armed = 0, false
	if id == 0 || p.files[id] == nil {
		return
	}
	delete(p.files[id], w)
	if len(p.files[id]) == 0 {
		delete(p.files, id)
		_, _ = unix.InotifyRmWatch(p.fd, uint32(id))
	}
}

// inBubble reports whether the caller is in a bubble of testing/synctest, where no time would pass
// while a goroutine reads events. Only a goroutine's trace says so.
func inBubble() bool {
	trace := make([]byte, 128)
	header, _, _ := bytes.Cut(trace[:runtime.Stack(trace, false)], []byte{'\n'})
	return bytes.Contains(header, []byte("synctest bubble"))
}

func (p *instance) startLocked() error {
	if p.file != nil {
		return nil
	}
	if time.Now().Before(p.retry) {
		return unix.EMFILE
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		p.retry = time.Now().Add(retryAfter)
		return err
	}
	p.fd, p.file, p.ended, p.files = fd, os.NewFile(uintptr(fd), "inotify"), make(chan struct{}), map[int]map[*Watch]struct{}{}
	go p.read(p.file, p.ended)
	return nil
}

// read reports events until the instance is closed.
func (p *instance) read(from *os.File, ended chan struct{}) {
	defer close(ended)
	events := make([]byte, 64*unix.SizeofInotifyEvent) // names are only in events of directories
	for {
		n, err := from.Read(events)
		if err != nil {
			return
		}
		for _, w := range p.take(from, events[:n]) {
			w.report()
		}
	}
}

// take disarms the watches that events are about, and returns them.
func (p *instance) take(from *os.File, events []byte) (written []*Watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != from {
		return nil
	}
	for len(events) >= unix.SizeofInotifyEvent {
		id, mask := int(int32(binary.NativeEndian.Uint32(events))), binary.NativeEndian.Uint32(events[4:])
		events = events[unix.SizeofInotifyEvent+min(int(binary.NativeEndian.Uint32(events[12:])), len(events)-unix.SizeofInotifyEvent):]
		written = append(written, p.takeLocked(id, mask)...)
	}
	return written
}

func (p *instance) takeLocked(id int, mask uint32) (written []*Watch) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		for id := range p.files {
			written = append(written, p.takeLocked(id, unix.IN_MODIFY)...)
		}
		return written
	}
	var last *Watch
	for w := range p.files[id] {
		if w.armed || mask&unix.IN_MODIFY == 0 {
			written, last = append(written, w), w
		}
		w.armed = false
		if mask&unix.IN_IGNORED != 0 { // the file is gone
			w.id = 0
		}
	}
	switch {
	case mask&unix.IN_IGNORED != 0:
		delete(p.files, id)
	case last != nil && mask&unix.IN_MODIFY != 0:
		p.lowerLocked(last)
	}
	return written
}
