package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Kinds of objects, which are also the names of their folders.
const (
	Routines = "routines"
	Views    = "views"
)

// Object is a routine or a view. Its whole definition is one file, routines/<name>.sql or
// views/<name>.sql, and Migrate applies it again whenever that text differs from the one
// that was applied to the database.
type Object struct {
	Kind     string // Routines or Views
	Name     string
	Text     string // as its file has it, with its macros: to be rendered
	Checksum string // of the text: the same under every name
}

// AppliedObject is an object that was applied to the database.
type AppliedObject struct {
	Kind, Name, Checksum string
}

// loadObjects reads routines/*.sql and views/*.sql: routines first, because views call them,
// and every view after those it reads. early reports whether a routine has to exist before those
// that call it are created; may be nil.
func loadObjects(files fs.FS, m macros, early func(text string) bool) ([]Object, error) {
	routines, err := loadKind(files, m, Routines)
	if err != nil {
		return nil, err
	}
	if early != nil {
		late := slices.DeleteFunc(slices.Clone(routines), func(o Object) bool { return early(o.Text) })
		routines = slices.DeleteFunc(routines, func(o Object) bool { return !early(o.Text) })
		if routines, err = inOrder(routines); err != nil {
			return nil, err
		}
		routines = append(routines, late...)
	}
	views, err := loadKind(files, m, Views)
	if err != nil {
		return nil, err
	}
	views, err = inOrder(views)
	return append(routines, views...), err
}

func loadKind(files fs.FS, m macros, kind string) ([]Object, error) {
	paths, err := fs.Glob(files, kind+"/*.sql")
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", kind, err)
	}
	var all []Object
	for _, p := range paths {
		text, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", kind, err)
		}
		name := strings.TrimSuffix(path.Base(p), ".sql")
		definition, err := m.expand(string(text), nil)
		if err != nil {
			return nil, fmt.Errorf("load %s: %s: %w", kind, name, err)
		}
		sum := sha256.Sum256([]byte(definition))
		all = append(all, Object{kind, name, definition, hex.EncodeToString(sum[:])})
	}
	return all, nil
}

// inOrder sorts objects of one kind so that each follows those that its text names.
func inOrder(objects []Object) ([]Object, error) {
	var placed []Object
	var n Names
	for len(objects) > 0 {
		next := slices.IndexFunc(objects, func(of Object) bool {
			return !slices.ContainsFunc(objects, func(o Object) bool {
				return o.Name != of.Name && strings.Contains(n.Render(of.Text), n.Quote(o.Name))
			})
		})
		if next < 0 {
			return nil, fmt.Errorf("load %s: %s and others read each other", objects[0].Kind, objects[0].Name)
		}
		placed = append(placed, objects[next])
		objects = slices.Delete(objects, next, next+1)
	}
	return placed, nil
}

// PendingObjects compares this build's objects with the database's: it returns the objects
// to apply, and those to drop because this build has none of that name.
func PendingObjects(want []Object, have []AppliedObject) (apply []Object, drop []AppliedObject) {
	for _, o := range want {
		if !slices.Contains(have, AppliedObject{o.Kind, o.Name, o.Checksum}) {
			apply = append(apply, o)
		}
	}
	for _, a := range have {
		if !slices.ContainsFunc(want, func(o Object) bool { return o.Kind == a.Kind && o.Name == a.Name }) {
			drop = append(drop, a)
		}
	}
	return apply, drop
}
