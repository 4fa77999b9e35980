package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/pgcluster"
)

// certificate makes a certificate for the loopback address, signed by itself.
func certificate(t testing.TB) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	enginetest.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pawl test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	enginetest.Must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	enginetest.Must(t, err)
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return text("CERTIFICATE", der), text("PRIVATE KEY", secret)
}

// encrypted starts a server that takes encrypted connections alone, and returns its
// URL without sslmode, and the file of its certificate.
func encrypted(t testing.TB) (address *url.URL, root string) {
	t.Helper()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{Settings: map[string]string{"fsync": "off"}})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = c.Stop() })
	cert, key := certificate(t)
	conn, err := pgx.Connect(t.Context(), c.URL())
	enginetest.Must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	for _, statement := range []string{
		// The server itself writes its files, so that they are its user's and nobody else's.
		`COPY (SELECT unnest(string_to_array('` + strings.TrimSpace(cert) + `', E'\n'))) TO PROGRAM 'umask 077; cat > server.crt'`,
		`COPY (SELECT unnest(string_to_array('` + strings.TrimSpace(key) + `', E'\n'))) TO PROGRAM 'umask 077; cat > server.key'`,
		`COPY (SELECT 'hostssl all all 127.0.0.1/32 trust') TO PROGRAM 'cat > pg_hba.conf'`,
		`ALTER SYSTEM SET ssl = on`,
		`SELECT pg_reload_conf()`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		enginetest.Must(t, err)
	}
	root = filepath.Join(t.TempDir(), "root.crt")
	enginetest.Must(t, os.WriteFile(root, []byte(cert), 0o600))
	address, err = url.Parse(c.URL())
	enginetest.Must(t, err)
	plain := address.String()
	enginetest.Until(t, "the server refuses plain connections", func() bool {
		conn, err := pgx.Connect(t.Context(), plain)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err != nil
	})
	return address, root
}

// OBX-126: with sslmode=verify-full in the connection string everything goes over
// TLS, listening included, and a server whose certificate is another's is refused.
func TestEverythingIsSentOverTLS(t *testing.T) {
	address, root := encrypted(t)
	with := func(root string) string {
		u := *address
		u.RawQuery = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {root}}.Encode()
		return u.String()
	}
	db := open(t, with(root), postgres.Options{})
	enginetest.Must(t, db.Migrate(t.Context()))
	enginetest.LiveOnce(t, db)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	woken := enginetest.Asleep(t, s)
	enginetest.Put(t, db, 1)
	enginetest.WantWoken(t, woken)
	var all, secret int
	enginetest.Must(t, db.Pool().QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'client backend'`).Scan(&all, &secret))
	if all < 2 || secret != all {
		t.Errorf("%d of %d connections are encrypted", secret, all)
	}

	foreign, _ := certificate(t)
	other := filepath.Join(t.TempDir(), "other.crt")
	enginetest.Must(t, os.WriteFile(other, []byte(foreign), 0o600))
	enginetest.WantClass(t, open(t, with(other), postgres.Options{}).CheckSchema(t.Context()), engine.ErrUnreachable)
}
