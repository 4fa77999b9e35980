package leasetest

import "testing"

func historyTests() map[string]func(*testing.T, Engine) { return nil }
