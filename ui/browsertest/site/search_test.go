package site_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// searching opens the site with its search loaded.
func searching(t *testing.T) *tab {
	t.Helper()
	b := open(t, serve(t))
	b.do(chromedp.Navigate(b.base + "docs/delivery.html"))
	b.until(`!document.getElementById("search").hidden`)
	b.slash()
	b.until(`window.pawlSearch && window.pawlRules`)
	return b
}

// hits types a query and returns the addresses of what is found, as the page shows it.
func (b *tab) hits(query string) []string {
	b.t.Helper()
	found := value[[]string](b, fmt.Sprintf(`(async () => {
		const words = document.getElementById("words"), box = document.getElementById("results");
		box.replaceChildren();
		words.value = %q;
		words.dispatchEvent(new Event("input"));
		while (!box.firstChild) await new Promise(done => setTimeout(done));
		return [...box.querySelectorAll("a")].map(a => a.href);
	})()`, query))
	for i, address := range found {
		found[i] = strings.TrimPrefix(address, b.base)
	}
	return found
}

// D-680: what a newcomer asks, in whatever words, has a page that answers it among the first three
// hits, and the search knows which words mean the same.
func TestQueries(t *testing.T) {
	b := searching(t)
	for _, q := range []struct{ query, pages string }{
		{"how to schedule a job", "docs/jobs.html"},
		{"dead letter queue", "docs/operating.html docs/howto.html"},
		{"retry with backoff", "docs/howto.html docs/concepts.html"},
		{"exactly once", "docs/faq.html"},
		{"graceful shutdown", "docs/howto.html"},
		{"send an email after the commit", "docs/howto.html"},
		{"rate limit api calls", "docs/howto.html docs/delivery.html"},
		{"install", "docs/install.html"},
		{"run in docker", "docs/install.html"},
		{"pgbouncer", "docs/faq.html"},
		{"admin ui", "docs/dashboard.html"},
		{"unit test a handler", "docs/testing.html docs/howto.html"},
		{"publish to kafka", "docs/brokers.html"},

		{"cron expression", "docs/jobs.html"},
		{"scheduled task", "docs/jobs.html docs/timers.html"},
		{"delayed message", "docs/howto.html docs/timers.html"},
		{"distributed lock", "docs/leases.html"},
		{"leader election", "docs/leases.html docs/howto.html"},
		{"consumer", "docs/concepts.html docs/brokers.html"},
		{"poison message", "docs/operating.html"},
		{"queue depth", "docs/metrics.html docs/health.html"},
		{"consumer lag", "docs/metrics.html docs/operating.html"},
		{"prometheus alerts", "deploy/readme.html docs/howto.html"},
		{"opentelemetry", "docs/traces.html"},
		{"database migrations", "docs/upgrading.html"},
		{"zero downtime upgrade", "docs/upgrading.html docs/howto.html"},
		{"restore from backup", "docs/operating.html"},
		{"idempotency key", "docs/inbox.html docs/howto.html"},
		{"deduplication", "docs/howto.html docs/inbox.html"},
		{"kubernetes", "docs/kubernetes.html"},
		{"helm chart", "docs/kubernetes.html"},
		{"keda autoscaling", "docs/kubernetes.html"},
		{"caddy", "docs/dashboard.html"},
		{"liveness probe", "docs/health.html"},
		{"systemd service", "docs/howto.html"},
		{"nginx", "docs/dashboard.html"},
		{"multi tenant", "docs/fleet.html docs/howto.html"},
		{"sqlite wal", "docs/sqlite.html docs/drivers.html docs/faq.html"},
		{"postgres permissions", "docs/security.html"},
		{"DLQ", "docs/operating.html docs/howto.html"},
		{"python client", "docs/languages.html docs/sql.html docs/howto.html"},
		{"message ordering", "docs/delivery.html docs/faq.html"},
		{"cancel a running job", "docs/faq.html"},
		{"handler timeout", "docs/faq.html"},
		{"job is stuck", "docs/explain.html docs/howto.html"},
		{"how long are messages kept", "docs/concepts.html docs/faq.html"},
		{"verify webhook signature", "docs/webhooks.html"},
		{"fan in", "docs/joins.html"},
		{"saga workflow", "docs/flows.html docs/joins.html"},
		{"durable execution", "docs/flows.html"},
		{"wait for approval", "docs/flows.html"},
		{"capacity planning", "docs/capacity.html"},
		{"disk space", "docs/capacity.html docs/faq.html docs/sqlite.html docs/operating.html"},
		{"vs temporal", "docs/comparison.html"},
		{"hatchet alternative", "docs/comparison.html"},
		{"restate vs", "docs/comparison.html"},
		{"solid queue", "docs/comparison.html"},
		{"jepsen", "docs/reliability.html"},
		{"formal verification TLA+", "docs/reliability.html"},
		{"benchmark", "bench/readme.html docs/performance.html"},
		{"transactional outbox pattern", "docs/faq.html docs/concepts.html"},
		{"max payload size", "docs/faq.html docs/howto.html docs/payloads.html"},
		{"mysql", "docs/faq.html docs/scale.html"},
		{"high availability", "docs/failover.html"},
		{"gdpr", "docs/faq.html"},
	} {
		found := b.hits(q.query)
		first := found[:min(3, len(found))]
		if !slices.ContainsFunc(first, func(address string) bool {
			page, _, _ := strings.Cut(address, "#")
			return slices.Contains(strings.Fields(q.pages), page)
		}) {
			t.Errorf("%q finds %v, and none of %s among them", q.query, first, q.pages)
		}
	}
}

// D-681: where nothing has every word, what has most of them is found, and what is spelt nearly so;
// a title counts more than the text.
func TestWordsThatNothingHas(t *testing.T) {
	b := searching(t)
	for query, first := range map[string]string{
		"ordering key":                    "docs/delivery.html#ordering-keys",
		"ordering key zzzyyyxxx":          "docs/delivery.html#ordering-keys",
		"kuberntes":                       "docs/kubernetes.html",
		"What do I need for PgBouncers?":  "docs/faq.html#does-it-work-behind-pgbouncer",
		"leases":                          "docs/leases.html",
		"does a handler run transactions": "docs/faq.html#does-a-handler-run-in-a-transaction",
	} {
		if found := b.hits(query); len(found) == 0 || found[0] != first {
			t.Errorf("%q finds %v, not %s first", query, found[:min(3, len(found))], first)
		}
	}
	if found := b.hits("zzzyyyxxx"); len(found) > 0 {
		t.Errorf("what nothing has finds %v", found)
	}
}
