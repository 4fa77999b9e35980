package driverr

import (
	"errors"
	"reflect"
)

// ResultCode returns SQLite's result code of a driver's error, the extended one if there is
// one: modernc and glebarez return it as Code() int, ncruces as ExtendedCode() and Code() of
// types of its own, and mattn in fields of these names.
func ResultCode(err error) (code int, ok bool) {
	for err != nil {
		if own, is := err.(interface{ Code() int }); is {
			return own.Code(), true
		}
		if code, ok = numbered(reflect.ValueOf(err)); ok {
			return code, true
		}
		if list, is := err.(interface{ Unwrap() []error }); is {
			for _, err := range list.Unwrap() {
				if code, ok = ResultCode(err); ok {
					return code, true
				}
			}
			return 0, false
		}
		err = errors.Unwrap(err)
	}
	return 0, false
}

// numbered reads the result code of an error of ncruces or mattn. Both have two codes, which
// no other driver's errors have. ncruces also returns one of the codes as an error, with a
// method that converts it to the other.
func numbered(err reflect.Value) (int, bool) {
	extended, primary := err.MethodByName("ExtendedCode"), err.MethodByName("Code")
	if extended.IsValid() && primary.IsValid() {
		return number(result(extended), result(primary))
	}
	if extended.IsValid() || primary.IsValid() {
		return integer(err)
	}
	if err = reflect.Indirect(err); err.Kind() != reflect.Struct {
		return 0, false
	}
	return number(err.FieldByName("ExtendedCode"), err.FieldByName("Code"))
}

// result calls a method without parameters that returns one value.
func result(method reflect.Value) reflect.Value {
	if t := method.Type(); t.NumIn() != 0 || t.NumOut() != 1 {
		return reflect.Value{}
	}
	return method.Call(nil)[0]
}

// number returns the extended code, or the primary one where the driver left that 0.
func number(extended, primary reflect.Value) (int, bool) {
	e, ok := integer(extended)
	p, too := integer(primary)
	if !ok || !too {
		return 0, false
	}
	if e == 0 {
		return p, true
	}
	return e, true
}

func integer(v reflect.Value) (int, bool) {
	switch {
	case v.CanInt():
		return int(v.Int()), true
	case v.CanUint():
		return int(v.Uint()), true
	}
	return 0, false
}
