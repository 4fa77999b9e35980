package view

import (
	"maps"
	"strings"
)

// Masked stands for the value of a header that nobody is shown.
const Masked = "(masked)"

// Headers returns headers as they are shown: values of those whose names say that they are credentials
// are masked.
func Headers(headers map[string]string) map[string]string {
	shown := maps.Clone(headers)
	for name := range shown {
		if credential(name) {
			shown[name] = Masked
		}
	}
	return shown
}

// credential reports whether a header's name is one of those that credentials have: Authorization,
// X-Auth-Token, Set-Cookie, api_key.
func credential(name string) bool {
	name = strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
	for _, part := range []string{"authorization", "authentication", "cookie", "token", "secret", "password", "passwd", "passphrase", "credential", "apikey", "accesskey", "privatekey", "session", "bearer", "jwt"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasSuffix(name, "auth")
}
