// Package history is what the processes of a torture round report: events, a file of them
// for each process, and how they are read back.
package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Outcome says how far an operation is.
type Outcome string

// The outcomes.
const (
	Began   Outcome = "began"
	OK      Outcome = "ok"
	Failed  Outcome = "failed"
	Unknown Outcome = "unknown" // a commit that got no reply
)

// Event is something that a process did.
type Event struct {
	At      int64   `json:"at"`      // ns of the wall clock
	Process string  `json:"process"` // unique for each start of a process
	Seq     int64   `json:"seq"`     // grows by one in a process
	Op      string  `json:"op"`
	Outcome Outcome `json:"outcome"`
	Message string  `json:"message,omitempty"` // id of a message
	Key     string  `json:"key,omitempty"`     // ordering key
	Place   int64   `json:"place,omitempty"`   // the producer's number within its key
	Topic   string  `json:"topic,omitempty"`
	Attempt int     `json:"attempt,omitempty"`
	Name    string  `json:"name,omitempty"`    // of a join, lease, timer, job, inbox source
	Token   int64   `json:"token,omitempty"`   // fencing token
	Nominal int64   `json:"nominal,omitempty"` // ns
	Until   int64   `json:"until,omitempty"`   // ns: when the claim or lease expires as the process knows it
	Detail  string  `json:"detail,omitempty"`
}

// Writer appends the events of one process to its file. It is safe for concurrent use.
type Writer struct {
	process string
	mu      sync.Mutex
	file    *os.File
	seq     int64
}

// NewWriter makes the file of a process in dir.
func NewWriter(dir, process string) (*Writer, error) {
	f, err := os.OpenFile(filepath.Join(dir, process+".jsonl"), os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &Writer{process: process, file: f}, nil
}

// Write appends an event in one write, and sets At, Process and Seq.
func (w *Writer) Write(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq++
	e.At, e.Process, e.Seq = time.Now().UnixNano(), w.process, w.seq
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = w.file.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (w *Writer) Close() error { return w.file.Close() }

// Read returns the events of all files in dir, file by file. A last line that a killed
// process left unfinished is not an error.
func Read(dir string) ([]Event, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []Event
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for lines := bufio.NewReader(bytes.NewReader(text)); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var e Event
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
			}
			all = append(all, e)
		}
	}
	return all, nil
}
