package main

import (
	"go/types"
	"slices"
	"strings"
)

// passedOn are the names that may have types of packages under internal: programs call none of these
// functions, they name them in fleet.Options.Engines.
var passedOn = []string{"fleet.Opener", "postgres.OpenURL", "sqlite.OpenURL", "sqlserver.OpenURL"}

// invisible lists what go doc of a package does not show of the types that it exports: what
// programs set and call has to be where they read of it.
func invisible(packages []*pkg) (faults []string) {
	for _, p := range packages {
		for _, name := range p.types.Scope().Names() {
			o := p.types.Scope().Lookup(name)
			if !o.Exported() || locked(o) || slices.Contains(passedOn, p.types.Name()+"."+name) {
				continue
			}
			faults = append(faults, hides(p, o)...)
		}
	}
	return faults
}

// hides lists what is not seen of o, which p declares.
func hides(p *pkg, o types.Object) (faults []string) {
	name := title(p) + "." + o.Name() + " "
	t, ok := o.(*types.TypeName)
	if !ok {
		return naming(name+"names ", o.Type())
	}
	if alias, ok := t.Type().(*types.Alias); ok {
		_, written := alias.Rhs().(*types.Interface)
		switch alias.Underlying().(type) {
		case *types.Struct, *types.Interface:
			if !written {
				faults = append(faults, name+"is an alias of "+types.TypeString(alias.Rhs(), nil)+": go doc shows no fields and no methods of it")
			}
		}
		return faults
	}
	named := t.Type().(*types.Named)
	if s, ok := named.Underlying().(*types.Struct); ok {
		faults = hiding(name, s)
	} else {
		faults = naming(name+"names ", named.Underlying())
	}
	for m := range named.Methods() {
		if m.Exported() && !locked(m) {
			faults = append(faults, naming(name+"has the method "+m.Name()+", which names ", m.Type())...)
		}
	}
	return faults
}

// hiding lists the fields of a struct that programs cannot set, or do not see.
func hiding(name string, s *types.Struct) (faults []string) {
	for f := range s.Fields() {
		switch {
		case f.Exported():
			faults = append(faults, naming(name+"has the field "+f.Name()+" of type ", f.Type())...)
		case f.Embedded() && lends(f.Type()):
			faults = append(faults, name+"embeds "+f.Name()+": go doc shows no fields and no methods of it")
		}
	}
	return faults
}

// naming returns a fault if the text of t names a type under internal.
func naming(fault string, t types.Type) []string {
	if in := internal(t); in != "" {
		return []string{fault + in}
	}
	return nil
}

// lends reports whether a struct that embeds t has exported fields or methods from it.
func lends(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	methods := types.NewMethodSet(types.NewPointer(t))
	for i := range methods.Len() {
		if m := methods.At(i).Obj(); m.Exported() && !locked(m) {
			return true
		}
	}
	s, ok := t.Underlying().(*types.Struct)
	return ok && slices.ContainsFunc(slices.Collect(s.Fields()), (*types.Var).Exported)
}

// internal returns the first type under internal that the text of t names, "" for none.
func internal(t types.Type) (found string) {
	types.TypeString(t, func(p *types.Package) string {
		if hidden(p) && found == "" {
			found = strings.TrimPrefix(p.Path(), module+"/")
		}
		return p.Name()
	})
	return found
}
