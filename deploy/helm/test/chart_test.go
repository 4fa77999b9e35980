package test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	root   = "../../.."
	folder = root + "/deploy/helm/pawl"
)

// scaledObject is what the chart uses of KEDA's resource.
type scaledObject struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef                                                    struct{ Name string }
		MinReplicaCount, MaxReplicaCount, PollingInterval, CooldownPeriod int
		Triggers                                                          []struct {
			Type     string
			Metadata map[string]string
		}
	}
}

// kinds are the resources that the chart may have, by their Kubernetes types.
func kinds() map[string]metav1.Object {
	return map[string]metav1.Object{
		"apps/v1 Deployment": &appsv1.Deployment{}, "batch/v1 Job": &batchv1.Job{},
		"v1 Service": &corev1.Service{}, "v1 ServiceAccount": &corev1.ServiceAccount{},
		"policy/v1 PodDisruptionBudget": &policyv1.PodDisruptionBudget{}, "networking.k8s.io/v1 NetworkPolicy": &networkingv1.NetworkPolicy{},
		"keda.sh/v1alpha1 ScaledObject": &scaledObject{},
	}
}

// values reads a file of values; "" is none.
func values(t *testing.T, name string) map[string]any {
	t.Helper()
	if name == "" {
		return map[string]any{}
	}
	v, err := chartutil.ReadValuesFile(filepath.Join(folder, "ci", name+"-values.yaml"))
	must(t, err)
	return v
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(folder)
	must(t, err)
	return c
}

// render returns the resources of a release of the name shop, by kind and name. Fields that a kind does not have fail.
func render(t *testing.T, given map[string]any) map[string]metav1.Object {
	t.Helper()
	files, err := files(t, given)
	must(t, err)
	all := map[string]metav1.Object{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		for _, text := range regexp.MustCompile(`(?m)^---$`).Split(files[file], -1) {
			if strings.TrimSpace(text) == "" {
				continue
			}
			var head metav1.TypeMeta
			must(t, yaml.Unmarshal([]byte(text), &head))
			o, known := kinds()[head.APIVersion+" "+head.Kind]
			if !known {
				t.Fatalf("%s: no such kind: %s %s", file, head.APIVersion, head.Kind)
			}
			if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
				t.Fatalf("%s: %v\n%s", file, err, text)
			}
			key := head.Kind + " " + o.GetName()
			if all[key] != nil {
				t.Errorf("%s is there twice", key)
			}
			all[key] = o
		}
	}
	return all
}

// files renders the chart's templates.
func files(t *testing.T, given map[string]any) (map[string]string, error) {
	t.Helper()
	c := load(t)
	v, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "shop", Namespace: "shop", IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, v)
}

// pods are the templates of pods, by what makes them.
func pods(all map[string]metav1.Object) map[string]corev1.PodTemplateSpec {
	found := map[string]corev1.PodTemplateSpec{}
	for key, o := range all {
		switch o := o.(type) {
		case *appsv1.Deployment:
			found[key] = o.Spec.Template
		case *batchv1.Job:
			found[key] = o.Spec.Template
		}
	}
	return found
}

// get returns a resource of a type.
func get[T metav1.Object](t *testing.T, all map[string]metav1.Object, key string) T {
	t.Helper()
	o, ok := all[key].(T)
	if !ok {
		t.Fatalf("there is no %s among %v", key, slices.Sorted(maps.Keys(all)))
	}
	return o
}

// helps are what the commands' --help says, of the program as it is.
var helps = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "pawl-chart-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "pawl")
	build := exec.Command("go", "build", "-o", program, "./cmd/pawl")
	build.Dir, build.Env = root, append(os.Environ(), "GOWORK=")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	said := map[string]string{}
	for _, command := range []string{"work", "ui", "migrate"} {
		out, err := exec.Command(program, command, "--help").Output()
		if err != nil {
			return nil, err
		}
		said[command] = string(out)
	}
	return said, nil
})

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// D-745: Helm's linter finds nothing in the chart, with every file of values.
func TestLint(t *testing.T) {
	for _, name := range []string{"minimal", "program", "all"} {
		for _, m := range lint.All(folder, values(t, name), "shop", true).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %s", name, m)
			}
		}
	}
}

// D-745: what is missing is named; nothing is installed that cannot start.
func TestMissingValues(t *testing.T) {
	db, hook := map[string]any{"existingSecret": "db"}, map[string]any{"topics": []any{"mail"}, "webhook": "https://example.com"}
	for _, c := range []struct {
		says  string
		given map[string]any
	}{
		{"worker.topics is required", map[string]any{"database": db}},
		{"database.existingSecret is required", map[string]any{"worker": hook}},
		{"one of worker.exec and worker.webhook", map[string]any{"database": db, "worker": map[string]any{"topics": []any{"mail"}}}},
		{"one of worker.exec and worker.webhook", map[string]any{"database": db, "worker": map[string]any{"topics": []any{"mail"}, "webhook": "https://example.com", "exec": "cat"}}},
		{"ui.basicAuthSecret is required", map[string]any{"database": db, "worker": hook, "ui": map[string]any{"enabled": true}}},
		{"queues", map[string]any{"database": db, "worker": map[string]any{"queues": []any{"it's"}}}},
	} {
		if _, err := files(t, c.given); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.given, err, c.says)
		}
	}
}

// D-745: all values makes every kind of resource, and each value of all is another than the default.
func TestAllValues(t *testing.T) {
	all := render(t, values(t, "all"))
	var have, want []string
	for _, o := range all {
		have = append(have, fmt.Sprintf("%T", o))
	}
	for _, o := range kinds() {
		want = append(want, fmt.Sprintf("%T", o))
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(slices.Compact(have), want) {
		t.Errorf("%q, want %q", have, want)
	}
	checkOther(t, "", load(t).Values, values(t, "all"))
}

// checkOther checks that values are set, and to something else. Of a choice of two, another file of values has one.
func checkOther(t *testing.T, path string, defaults, given map[string]any) {
	t.Helper()
	elsewhere := []string{"worker.webhook", "worker.command", "worker.args", "keda.prometheus", "keda.prometheusSelector",
		"migrate.enabled", "worker.enabled", "worker.service", "serviceAccount.create", "worker.resources.limits", "ui.resources.limits", "migrate.resources.limits"}
	for key, value := range defaults {
		at := strings.TrimPrefix(path+"."+key, ".")
		if slices.Contains(elsewhere, at) {
			continue
		}
		other, set := given[key]
		below, nested := value.(map[string]any)
		switch {
		case !set:
			t.Errorf("ci/all-values.yaml does not set %s", at)
		case nested && len(below) > 0:
			checkOther(t, at, below, other.(map[string]any))
		case fmt.Sprint(value) == fmt.Sprint(other):
			t.Errorf("ci/all-values.yaml leaves %s as it is", at)
		}
	}
}
