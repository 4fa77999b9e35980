package browsertest_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/bravellian/pawl/internal/test/apt"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

// nginx is Debian's, before a dashboard.
type nginx struct {
	plain, trusted, tls string // where it is: without TLS, the same at an address that may be trusted, with TLS
	stop                func()
}

// behind starts an nginx with the configuration that Debian's package brings and a site before a server: at
// the path that the dashboard has and at another, as "proxy_pass" alone has it, and at one that keeps the address.
func behind(t *testing.T, serve func(*nginx) *httptest.Server) *nginx {
	t.Helper()
	if err := apt.Install(t.Context(), os.Stderr, "nginx"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	n, site := &nginx{}, `
server {
	listen PLAIN;
	listen TRUSTED;
	listen TLS ssl;
	server_name _;
	ssl_certificate DIR/cert.pem;
	ssl_certificate_key DIR/key.pem;
	location / { proxy_pass UP; }
	location /sub/ { proxy_pass UP`+below+`; }
	location /kept/ { proxy_pass UP`+below+`; proxy_set_header Host $http_host; }
}
`
	var listening []*os.File // nginx takes them over: no port is taken by somebody else meanwhile
	for name, at := range map[string]*string{"PLAIN": &n.plain, "TRUSTED": &n.trusted, "TLS": &n.tls} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		listening, site = append(listening, f), strings.Replace(site, name, l.Addr().String(), 1)
		*at = fmt.Sprintf("http://%s:%d", chromium.Host, l.Addr().(*net.TCPAddr).Port)
	}
	n.tls = strings.Replace(n.tls, "http", "https", 1)
	certify(t, dir)
	write(t, filepath.Join(dir, "site"), strings.NewReplacer("DIR", dir, "UP", serve(n).URL).Replace(site))
	write(t, filepath.Join(dir, "nginx.conf"), debians(t, dir))
	cmd := exec.Command("/usr/sbin/nginx", "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"), "-g", "daemon off;")
	cmd.ExtraFiles, cmd.Env = listening, append(os.Environ(), "NGINX=3;4;5;")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range listening {
		// What is handed over blocks, and nginx leaves it so: of two workers that one connection wakes, one takes
		// it and the other waits in accept, with all requests of its own, until the next.
		if err := syscall.SetNonblock(int(f.Fd()), true); err != nil {
			t.Fatal(err)
		}
	}
	n.stop = func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		}
	}
	t.Cleanup(func() {
		n.stop()
		if t.Failed() {
			t.Logf("nginx said: %s", said.String())
		}
	})
	return n
}

// debians is the configuration that Debian's package brings, but for what would be outside of a folder, and
// with a site of ours.
func debians(t *testing.T, dir string) string {
	t.Helper()
	conf, err := os.ReadFile("/etc/nginx/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^user .*$`).ReplaceAllString(string(conf), map[bool]string{true: "user root;"}[os.Getuid() == 0])
	text = regexp.MustCompile(`(?m)^pid .*$`).ReplaceAllString(text, "pid "+dir+"/pid;")
	text = regexp.MustCompile(`\S*/(access|error)\.log`).ReplaceAllString(text, dir+"/$1.log")
	sites, ours := "include /etc/nginx/sites-enabled/*;", "include "+dir+"/site;"
	for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		ours += name + "_temp_path " + dir + "/" + name + ";"
	}
	if !strings.Contains(text, sites) {
		t.Fatalf("Debian's configuration has no sites: %s", text)
	}
	return strings.ReplaceAll(text, sites, ours)
}

// certify makes a certificate that nobody trusts.
func certify(t *testing.T, dir string) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"key": {Type: "PRIVATE KEY", Bytes: key}, "cert": {Type: "CERTIFICATE", Bytes: s.Certificate().Raw}} {
		write(t, filepath.Join(dir, name+".pem"), string(pem.EncodeToMemory(block)))
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// at opens a tab at a dashboard. That a proxy without TLS is none that browsers trust is no complaint about a page.
func at(t *testing.T, base string) *tab {
	t.Helper()
	ctx, end, err := browser.Tab()
	if err != nil {
		t.Fatal(err)
	}
	b := opened(t, base, ctx, end)
	b.ignored = []string{"Cross-Origin-Opener-Policy header has been ignored", "/favicon.ico"}
	return b
}

// pauses presses the button that pauses a topic, and has it confirmed.
func (b *tab) pauses(topic string) {
	b.t.Helper()
	b.visit("topics")
	b.click(labelled(row(topic), "summary", "Pause"))
	b.until("the form is open", row(topic)+`.querySelector("details").open`)
	b.click(labelled(row(topic), "button", "Pause"))
}

// D-643: behind nginx with Debian's configuration and nothing but proxy_pass, at any path, without TLS and with it,
// pages are brought up to date. What is changed there is done, or refused with the remedy, which helps.
func TestThroughNginx(t *testing.T) {
	w := onSQLite(t)
	n := behind(t, func(n *nginx) *httptest.Server {
		return w.serve(ui.Options{Authorize: olga, TrustedOrigins: []string{n.trusted}})
	})
	for i, c := range []struct {
		base    string
		refused bool
	}{{n.plain + "/sub/", true}, {n.plain + "/kept/", false}, {n.trusted + below, false}, {n.tls + "/sub/", false}} {
		b := at(t, c.base)
		b.visit("topics")
		b.live()
		topic := fmt.Sprintf("news%d", i)
		_, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: topic})
		w.check(err)
		b.until("the new topic is shown", row(topic))
		if c.refused {
			b.expect("403")
		}
		b.click(labelled(row(topic), "summary", "Pause"))
		b.until("the form is open", row(topic)+`.querySelector("details").open`)
		b.click(labelled(row(topic), "button", "Pause"))
		if c.refused {
			b.shows("body", "proxy_set_header Host $http_host")
			b.shows("body", "--origin")
			continue
		}
		b.shows(".did", "topic "+topic+" paused")
		if got := value[string](b, "location.href"); !strings.HasPrefix(got, c.base+"topics?") {
			t.Errorf("%s leads back to %s", c.base, got)
		}
	}
}

// D-643: ten tabs of one browser at a page through nginx, by HTTP/1.1 and its six connections, are all loaded and
// brought up to date; once nobody answers, each says that it is stale and why.
func TestTenTabsThroughNginx(t *testing.T) {
	w := onSQLite(t)
	n := behind(t, func(*nginx) *httptest.Server { return w.serve(ui.Options{Authorize: olga}) })
	tabs := []*tab{at(t, n.plain+"/sub/")}
	for len(tabs) < 10 {
		ctx, end, err := chromium.Beside(tabs[0].ctx)
		if err != nil {
			t.Fatal(err)
		}
		b := opened(t, tabs[0].base, ctx, end)
		b.ignored = tabs[0].ignored
		tabs = append(tabs, b)
	}
	for _, b := range tabs {
		b.visit("topics")
	}
	_, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: "news"})
	w.check(err)
	for _, b := range tabs {
		b.until("the new topic is shown", row("news"))
	}
	n.stop()
	for _, b := range tabs {
		b.ignored = append(b.ignored, "ERR_", "htmx:")
		value[int](b, `window.real = Date.now, Date.now = () => window.real() + 60000, 0`) // a minute goes by
		b.until("the page is stale", `document.body.classList.contains("stale")`)
		b.shows(".fresh", "no answer")
	}
}
