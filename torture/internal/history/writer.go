package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Suffix is how the names of files end.
const Suffix = ".jsonl"

// Writer appends the events of one start of a process to a file of its own. Each event
// is one write, so a SIGKILL loses no more than the event that was not yet written. It
// is safe for concurrent use.
type Writer struct {
	process string

	mu   sync.Mutex
	file *os.File
	seq  int64
	last int64
}

// Create creates the file of a process in a folder. The process's name must be new there:
// a process that starts again is another one.
func Create(folder, process string) (*Writer, error) {
	if process == "" || strings.ContainsAny(process, `/\`) {
		return nil, fmt.Errorf("history: process %q is no file name", process)
	}
	file, err := os.OpenFile(filepath.Join(folder, process+Suffix), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &Writer{process: process, file: file}, nil
}

// Append writes an event. It sets Process, Seq and At: the file is in the order of time.
func (w *Writer) Append(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return errors.New("history: the writer is closed")
	}
	w.last = max(w.last, Now()) // a clock that is set back must not turn cause and effect around
	e.At, e.Process, e.Seq = w.last, w.process, w.seq+1
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		return err
	}
	w.seq++
	return nil
}

// Close closes the file. Appending to a closed writer is an error.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}
