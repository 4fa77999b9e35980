package engine

import (
	"runtime"
	"sync"
	"weak"
)

// Library keeps what the databases of a program have in common, so that thousands need it once:
// the SQL of each engine, and what was rendered of it under the same names. The zero value is
// empty; a nil one keeps nothing. It is safe for concurrent use.
//
// It grows with the names that databases in use have, not with how many were ever opened: names
// that no database has any more are dropped.
type Library struct {
	mu      sync.Mutex
	texts   map[string]*Texts // by engine
	folders map[shelf]weak.Pointer[Folder]
}

// shelf is where a Library keeps a Folder.
type shelf struct {
	engine string
	names  Names
}

// Folder returns the SQL of an engine under names: the same Folder as long as anybody uses it. from
// is called if the engine's SQL was not read yet.
func (l *Library) Folder(engine string, n Names, from func() *Source) (*Folder, error) {
	if l == nil {
		return Load(from(), n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := shelf{engine, n}
	if f := l.folders[at].Value(); f != nil {
		return f, nil
	}
	t := l.texts[engine]
	if t == nil {
		var err error
		if t, err = Read(from()); err != nil {
			return nil, err
		}
		if l.texts == nil {
			l.texts, l.folders = map[string]*Texts{}, map[shelf]weak.Pointer[Folder]{}
		}
		l.texts[engine] = t
	}
	f, err := t.Under(n)
	if err != nil {
		return nil, err
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
