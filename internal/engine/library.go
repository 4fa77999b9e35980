package engine

import (
	"runtime"
	"sync"
	"weak"
)

// Library keeps what the databases of a program have in common, so that thousands need it once:
// what was rendered of an engine's SQL under the same names. The zero value is
// empty; a nil one keeps nothing. It is safe for concurrent use.
//
// It grows with the names that databases in use have, not with how many were ever opened: names
// that no database has any more are dropped.
type Library struct {
	mu      sync.Mutex
	folders map[shelf]weak.Pointer[Folder]
}

// shelf is where a Library keeps a Folder.
type shelf struct {
	engine string
	names  Names
}

// Folder returns the SQL of an engine under names: the same Folder as long as anybody uses it.
func (l *Library) Folder(engine string, n Names, texts func() (*Texts, error)) (*Folder, error) {
	t, err := texts()
	if err != nil {
		return nil, err
	}
	if l == nil {
		return t.Under(n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := shelf{engine, n}
	if f := l.folders[at].Value(); f != nil {
		return f, nil
	}
	f, err := t.Under(n)
	if err != nil {
		return nil, err
	}
	if l.folders == nil {
		l.folders = map[shelf]weak.Pointer[Folder]{}
	}
	l.folders[at] = weak.Make(f)
	runtime.AddCleanup(f, l.drop, at)
	return f, nil
}

// drop removes a Folder that nobody uses, unless there is another one in its place.
func (l *Library) drop(at shelf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folders[at].Value() == nil {
		delete(l.folders, at)
	}
}

// Names returns under how many names the library keeps SQL.
func (l *Library) Names() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.folders)
}
