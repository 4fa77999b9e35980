package ui

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// openAPI describes the API as OpenAPI 3.1 has it, from the resources and the types that they return.
func openAPI() map[string]any {
	schemas := map[string]any{}
	paths := map[string]any{}
	for _, one := range resources() {
		result := schema(reflect.TypeOf(one.result), schemas)
		if one.list {
			result = object(map[string]any{"items": result, "next": map[string]any{"type": "string", "description": "The parameter after of the next page."}}, "items")
		}
		paths["/api/v1/"+one.path] = map[string]any{strings.ToLower(one.method()): operation(one, result)}
	}
	stores := resource{path: "stores", summary: "The keys of a fleet's stores; none of one database."}
	keys := object(map[string]any{"items": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}, "items")
	paths["/api/v1/stores"] = map[string]any{"get": operation(stores, keys)}
	return map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "pawl", "version": "1", "description": "What the dashboard shows, as JSON. Of a fleet every request names its store."},
		"paths":   paths,
		"components": map[string]any{
			"schemas": schemas,
			"responses": map[string]any{"Error": map[string]any{
				"description": "It could not be read.", "content": content(object(map[string]any{"error": map[string]any{"type": "string"}}, "error")),
			}},
		},
	}
}

func operation(one resource, result any) map[string]any {
	var params []any
	add := func(name, in string, required bool) {
		params = append(params, map[string]any{"name": name, "in": in, "required": required, "schema": map[string]any{"type": "string"}})
	}
	for _, name := range parameters(one.path) {
		add(name, "path", true)
	}
	for _, name := range append(slices.Clone(one.params), "store") {
		add(name, "query", false)
	}
	return map[string]any{
		"summary": one.summary, "parameters": params,
		"responses": map[string]any{
			"200":     map[string]any{"description": "It.", "content": content(result)},
			"default": map[string]any{"$ref": "#/components/responses/Error"},
		},
	}
}

func content(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func object(properties map[string]any, required ...string) map[string]any {
	o := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// schema describes a type. Structs are described once, by their names.
func schema(t reflect.Type, named map[string]any) any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "description": "nanoseconds"}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return map[string]any{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema(t.Elem(), named)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": "array", "items": schema(t.Elem(), named)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schema(t.Elem(), named)}
	case reflect.Struct:
		return reference(t, named)
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64, reflect.Float32:
		return map[string]any{"type": "number"}
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer"}
}

// reference describes a struct where the others are, and refers to it.
func reference(t reflect.Type, named map[string]any) any {
	path := strings.Split(t.PkgPath(), "/")
	name := path[len(path)-1] + "." + t.Name()
	if _, known := named[name]; !known {
		named[name] = nil // for a type that has itself in it
		properties, required := map[string]any{}, []string(nil)
		fields(t, named, properties, &required)
		slices.Sort(required)
		named[name] = object(properties, slices.Compact(required)...)
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// fields describes the fields of a struct as encoding/json writes them.
func fields(t reflect.Type, named, properties map[string]any, required *[]string) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous || shadowed(t, f) {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, known := properties[name]; known {
			continue
		}
		properties[name] = schema(f.Type, named)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// shadowed reports whether a promoted field is inside of a field that is written by itself or not at
// all.
func shadowed(t reflect.Type, f reflect.StructField) bool {
	for i := 1; i < len(f.Index); i++ {
		outer := t.FieldByIndex(f.Index[:i])
		if name, _, _ := strings.Cut(outer.Tag.Get("json"), ","); name != "" {
			return true
		}
	}
	return false
}

// parameters are the names in a path's braces.
func parameters(path string) (names []string) {
	for _, part := range strings.Split(path, "/") {
		if strings.HasPrefix(part, "{") {
			names = append(names, strings.Trim(part, "{}"))
		}
	}
	return names
}
