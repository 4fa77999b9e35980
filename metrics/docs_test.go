package metrics

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/bravellian/pawl/internal/test/docblocks"
)

// D-238: the YAML blocks of the documentation parse. They are checked here because the parser is.
func TestYAMLBlocks(t *testing.T) {
	blocks, err := docblocks.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range blocks {
		if b.Language != "yaml" {
			continue
		}
		n++
		var v any
		if err := yaml.UnmarshalStrict([]byte(b.Text), &v); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
	if n == 0 {
		t.Error("no block is found")
	}
}

// D-753: what the documentation has for Caddy and Traefik does what it has for nginx, which a test runs: the same path is
// stripped, the same address asked, and every name that Traefik's routers use is there.
func TestProxies(t *testing.T) {
	blocks, err := docblocks.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	var nginx, caddy []string
	var traefik struct {
		HTTP struct {
			Routers map[string]struct {
				Rule, Service string
				Middlewares   []string
			}
			Middlewares map[string]struct {
				StripPrefix struct{ Prefixes []string } `yaml:"stripPrefix"`
			}
			Services map[string]struct {
				LoadBalancer struct{ Servers []struct{ URL string } } `yaml:"loadBalancer"`
			}
		}
	}
	for _, b := range blocks {
		switch {
		case b.File != "docs/dashboard.md":
		case strings.Contains(b.Text, "proxy_pass"):
			nginx = regexp.MustCompile(`location (/\S+)/ \{\s+proxy_pass (\S+)/;`).FindStringSubmatch(b.Text)
		case strings.Contains(b.Text, "reverse_proxy"):
			caddy = regexp.MustCompile(`\S+ \{\s+handle_path (/\S+)/\* \{\s+reverse_proxy (\S+)\s+\}\s+\}`).FindStringSubmatch(b.Text)
		case strings.Contains(b.Text, "routers:"):
			if err := yaml.UnmarshalStrict([]byte(b.Text), &traefik); err != nil {
				t.Fatal(err)
			}
		}
	}
	if nginx == nil || caddy == nil || len(traefik.HTTP.Routers) != 1 {
		t.Fatalf("nginx %q, Caddy %q, Traefik %v", nginx, caddy, traefik)
	}
	prefix, upstream := nginx[1], nginx[2]
	if caddy[1] != prefix || "http://"+caddy[2] != upstream {
		t.Errorf("Caddy: %q, nginx: %q", caddy[1:], nginx[1:])
	}
	for _, r := range traefik.HTTP.Routers {
		if want := "PathPrefix(`" + prefix + "/`)"; r.Rule != want {
			t.Errorf("Traefik: %s, want %s", r.Rule, want)
		}
		servers := traefik.HTTP.Services[r.Service].LoadBalancer.Servers
		if len(servers) != 1 || servers[0].URL != upstream {
			t.Errorf("Traefik: %v, nginx: %s", servers, upstream)
		}
		if len(r.Middlewares) != 1 || !slices.Equal(traefik.HTTP.Middlewares[r.Middlewares[0]].StripPrefix.Prefixes, []string{prefix}) {
			t.Errorf("Traefik: %v does not strip %s", r.Middlewares, prefix)
		}
	}
}
