package test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// every are the files of values that each pod is checked with.
var every = []string{"minimal", "program", "all"}

// D-746: no pod runs as root, gains privileges, writes its root file system or has a token of the cluster.
func TestPodSecurity(t *testing.T) {
	for _, name := range every {
		for key, p := range pods(render(t, values(t, name))) {
			s := p.Spec
			if in := s.SecurityContext; in == nil || !yes(in.RunAsNonRoot) || in.RunAsUser == nil || *in.RunAsUser != 65532 || in.SeccompProfile == nil || in.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s: %s: %v", name, key, in)
			}
			if s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken {
				t.Errorf("%s: %s has a token", name, key)
			}
			for _, c := range append(s.InitContainers, s.Containers...) {
				in := c.SecurityContext
				if in == nil || !yes(in.ReadOnlyRootFilesystem) || !yes(in.RunAsNonRoot) || in.AllowPrivilegeEscalation == nil || *in.AllowPrivilegeEscalation {
					t.Errorf("%s: %s: %s: %v", name, key, c.Name, in)
				} else if in.Capabilities == nil || !slices.Equal(in.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(in.Capabilities.Add) > 0 {
					t.Errorf("%s: %s: %s: %v", name, key, c.Name, in.Capabilities)
				}
				if len(c.Resources.Requests) == 0 {
					t.Errorf("%s: %s: %s requests no resources", name, key, c.Name)
				}
			}
		}
	}
}

func yes(b *bool) bool { return b != nil && *b }

// D-746: the database's URL comes from a Secret, and no command line has it.
func TestDatabaseFromSecret(t *testing.T) {
	for _, name := range every {
		for key, p := range pods(render(t, values(t, name))) {
			c := p.Spec.Containers[0]
			secret := "shop-db"
			if name == "all" && strings.HasPrefix(key, "Job") {
				secret = "shop-db-migrator"
			}
			i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "PAWL_DB" })
			if i < 0 || c.Env[i].ValueFrom == nil || c.Env[i].ValueFrom.SecretKeyRef == nil || c.Env[i].ValueFrom.SecretKeyRef.Name != secret {
				t.Errorf("%s: %s: %v", name, key, c.Env)
			}
			if strings.Contains(strings.Join(c.Args, " "), "--db") {
				t.Errorf("%s: %s: %q", name, key, c.Args)
			}
		}
	}
}

// D-747: a pod is killed later than its handlers are: after --grace, as the documentation has it by default.
func TestGracePeriod(t *testing.T) {
	for _, name := range []string{"minimal", "all"} {
		worker := get[*appsv1.Deployment](t, render(t, values(t, name)), "Deployment shop-worker").Spec.Template.Spec
		grace, err := time.ParseDuration(flags(worker.Containers[0].Args)["grace"])
		must(t, err)
		if killed := time.Duration(*worker.TerminationGracePeriodSeconds) * time.Second; killed < grace+5*time.Second {
			t.Errorf("%s: killed after %v, handlers may go on for %v", name, killed, grace)
		}
		if name != "minimal" {
			continue
		}
		help, err := helps()
		must(t, err)
		if !strings.Contains(strings.Join(strings.Fields(help["work"]), " "), "when this process is to stop. Default: "+grace.String()) {
			t.Errorf("%v is not the default of pawl work --grace", grace)
		}
		for _, page := range []string{"howto", "kubernetes"} {
			text, err := os.ReadFile(root + "/docs/" + page + ".md")
			must(t, err)
			if says := fmt.Sprintf(`terminationGracePeriodSeconds: %d\b`, *worker.TerminationGracePeriodSeconds); !regexp.MustCompile(says).Match(text) {
				t.Errorf("docs/%s.md does not have %s", page, says)
			}
		}
	}
}

// D-748: the probes are those that the program answers, at the port that it serves.
func TestProbes(t *testing.T) {
	for _, name := range every {
		for key, p := range pods(render(t, values(t, name))) {
			if strings.HasPrefix(key, "Job") {
				continue
			}
			c := p.Spec.Containers[0]
			if c.LivenessProbe == nil || c.ReadinessProbe == nil || len(c.Ports) != 1 || c.Ports[0].ContainerPort != 8080 {
				t.Fatalf("%s: %s: %v", name, key, c)
			}
			if listen := flags(c.Args)["listen"]; len(c.Command) == 1 && c.Command[0] == "/pawl" && listen != "0.0.0.0:8080" {
				t.Errorf("%s: %s listens at %q", name, key, listen)
			}
			if strings.HasSuffix(key, "-ui") {
				if c.LivenessProbe.TCPSocket == nil || c.ReadinessProbe.TCPSocket == nil {
					t.Errorf("%s: the dashboard's pages ask for a password", name)
				}
				continue
			}
			if path := c.LivenessProbe.HTTPGet.Path; path != "/livez" {
				t.Errorf("%s: %s: liveness by %s", name, key, path)
			}
			if path := c.ReadinessProbe.HTTPGet.Path; path != "/readyz" && path != "/readyz?exclude=waiting" {
				t.Errorf("%s: %s: readiness by %s", name, key, path)
			}
			if c.ReadinessProbe.TimeoutSeconds <= 2 {
				t.Errorf("%s: %s: a database that does not answer has 2 s", name, key)
			}
		}
	}
}

// flags are the flags of a command line.
func flags(args []string) map[string]string {
	all := map[string]string{}
	for _, a := range args {
		if rest, ok := strings.CutPrefix(a, "--"); ok {
			name, value, _ := strings.Cut(rest, "=")
			all[name] = value
		}
	}
	return all
}

// D-749: commands, flags and variables that the chart uses are those of the program.
func TestCommandLines(t *testing.T) {
	help, err := helps()
	must(t, err)
	used := map[string]bool{}
	for _, name := range every {
		for key, p := range pods(render(t, values(t, name))) {
			c := p.Spec.Containers[0]
			if c.Command[0] != "/pawl" {
				continue
			}
			says, known := help[c.Args[0]]
			if !known {
				t.Errorf("%s: %s: no command %q", name, key, c.Args[0])
			}
			for flag := range flags(c.Args[1:]) {
				used[flag] = true
				if !regexp.MustCompile(`(?m)^ .*--` + regexp.QuoteMeta(flag) + `(=|\s|$)`).MatchString(says) {
					t.Errorf("%s: %s: pawl %s has no --%s", name, key, c.Args[0], flag)
				}
			}
			for _, e := range c.Env {
				if strings.HasPrefix(e.Name, "PAWL_") && !strings.Contains(says, "$"+e.Name+")") {
					t.Errorf("%s: %s: pawl %s reads no %s", name, key, c.Args[0], e.Name)
				}
			}
			if strings.Contains(c.Args[0], "work") && flags(c.Args)["secret-env"] != "" && !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == flags(c.Args)["secret-env"] }) {
				t.Errorf("%s: %s: no variable has the secrets", name, key)
			}
		}
	}
	want := []string{"basic-auth", "concurrency", "exec", "grace", "listen", "origin", "queue", "read-only", "secret-env", "topic", "webhook"}
	if have := slices.Sorted(maps.Keys(used)); !slices.Equal(have, want) {
		t.Errorf("the values use %q, want %q", have, want)
	}
}

// D-750: migrations run before pods of a version are there, with nothing that the release makes later.
func TestMigration(t *testing.T) {
	for _, name := range every {
		job := get[*batchv1.Job](t, render(t, values(t, name)), "Job shop-migrate")
		if hook := job.Annotations["helm.sh/hook"]; hook != "pre-install,pre-upgrade" {
			t.Errorf("%s: hook %q", name, hook)
		}
		if s := job.Spec.Template.Spec; s.ServiceAccountName != "" || s.RestartPolicy != corev1.RestartPolicyNever || s.Containers[0].Args[0] != "migrate" {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// D-750: services, budgets, policies and scaling select the pods they are for, and no others.
func TestSelectors(t *testing.T) {
	all := render(t, values(t, "all"))
	found := pods(all)
	selected := func(selector map[string]string) (keys []string) {
		for key, p := range found {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(selector)), func(k string) bool { return p.Labels[k] != selector[k] }) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return keys
	}
	for what, c := range map[string]struct {
		selector map[string]string
		want     []string
	}{
		"service worker": {get[*corev1.Service](t, all, "Service shop-worker").Spec.Selector, []string{"Deployment shop-worker"}},
		"service ui":     {get[*corev1.Service](t, all, "Service shop-ui").Spec.Selector, []string{"Deployment shop-ui"}},
		"worker":         {get[*appsv1.Deployment](t, all, "Deployment shop-worker").Spec.Selector.MatchLabels, []string{"Deployment shop-worker"}},
		"ui":             {get[*appsv1.Deployment](t, all, "Deployment shop-ui").Spec.Selector.MatchLabels, []string{"Deployment shop-ui"}},
		"budget":         {get[*policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget shop-worker").Spec.Selector.MatchLabels, []string{"Deployment shop-worker"}},
		"policy":         {get[*networkingv1.NetworkPolicy](t, all, "NetworkPolicy shop").Spec.PodSelector.MatchLabels, []string{"Deployment shop-ui", "Deployment shop-worker", "Job shop-migrate"}},
	} {
		if keys := selected(c.selector); !slices.Equal(keys, c.want) {
			t.Errorf("%s selects %q, want %q", what, keys, c.want)
		}
	}
}

// D-751: replicas follow what waits and runs in the queues served, by the documented queries; nothing else sets them.
func TestScaling(t *testing.T) {
	text, err := os.ReadFile(folder + "/files/backlog.sql")
	must(t, err)
	page, err := os.ReadFile(root + "/docs/kubernetes.md")
	must(t, err)
	if !strings.Contains(string(page), "```sql\n"+string(text)+"```\n") {
		t.Error("docs/kubernetes.md does not have files/backlog.sql as it is")
	}
	for name, c := range map[string]struct{ kind, query string }{
		"all":     {"postgresql", strings.NewReplacer("pawl.", "outbox.", "('default')", "('default', 'mail.high')").Replace(string(text))},
		"program": {"prometheus", `max(sum by (job, instance) (pawl_messages{queue=~"default",state=~"ready|in_flight",job="shop"}))`},
	} {
		all := render(t, values(t, name))
		if c.kind == "prometheus" && !strings.Contains(string(page), c.query) {
			t.Errorf("docs/kubernetes.md does not have %s", c.query)
		}
		s := get[*scaledObject](t, all, "ScaledObject shop-worker").Spec
		if s.ScaleTargetRef.Name != "shop-worker" || len(s.Triggers) != 1 || s.Triggers[0].Type != c.kind {
			t.Fatalf("%s: %+v", name, s)
		}
		if query := s.Triggers[0].Metadata["query"]; strings.TrimSpace(query) != strings.TrimSpace(c.query) {
			t.Errorf("%s: %s\nwant %s", name, query, c.query)
		}
		worker := get[*appsv1.Deployment](t, all, "Deployment shop-worker")
		if worker.Spec.Replicas != nil {
			t.Errorf("%s: the Deployment sets %d replicas, too", name, *worker.Spec.Replicas)
		}
		env := s.Triggers[0].Metadata["connectionFromEnv"]
		if c.kind == "postgresql" && !slices.ContainsFunc(worker.Spec.Template.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == env }) {
			t.Errorf("%s: the worker has no variable %q", name, env)
		}
	}
}
