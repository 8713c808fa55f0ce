package servicedefinition

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// as reads a configuration as the object it makes.
func as[C any](t *testing.T, config any) C {
	t.Helper()
	var made C
	raw, err := json.Marshal(config)
	if err == nil {
		err = json.Unmarshal(raw, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// template is the whole pod of the sample, as it shall be.
const template = `
metadata:
  labels:
    app.kubernetes.io/managed-by: polychrome
    app.kubernetes.io/name: web
    polychrome.dev/service-definition: web
spec:
  automountServiceAccountToken: false
  containers:
  - env:
    - name: LEVEL
      value: info
    - name: PORT
      value: "8080"
    image: example.com/web:2
    name: app
    ports:
    - containerPort: 8080
      name: http
    readinessProbe:
      initialDelaySeconds: 2
      periodSeconds: 10
      tcpSocket:
        port: http
    resources:
      limits:
        cpu: 500m
        memory: 256Mi
      requests:
        cpu: 50m
        memory: 64Mi
    securityContext:
      allowPrivilegeEscalation: false
      capabilities:
        drop:
        - ALL
      readOnlyRootFilesystem: true
    volumeMounts:
    - mountPath: /tmp
      name: tmp
  enableServiceLinks: false
  securityContext:
    runAsGroup: 65532
    runAsNonRoot: true
    runAsUser: 65532
    seccompProfile:
      type: RuntimeDefault
  volumes:
  - emptyDir:
      sizeLimit: 1Gi
    name: tmp
`

func TestTheTemplateIsHardened(t *testing.T) {
	got, err := yaml.Marshal(deploymentFor(service()).Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(template, "\n"+string(got)); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
}

func TestDeployment(t *testing.T) {
	got := as[appsv1.Deployment](t, deploymentFor(service()))
	if diff := cmp.Diff(map[string]string{"app.kubernetes.io/name": "web"}, got.Spec.Selector.MatchLabels); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(labelsOf(service()), got.Labels); diff != "" || got.Name != "web" || got.Namespace != "apps" {
		t.Errorf("want apps/web with our labels, got %s/%s:\n%s", got.Namespace, got.Name, diff)
	}
	if *got.Spec.Replicas != 2 || got.Annotations != nil {
		t.Errorf("want 2 replicas and no annotation, got %d and %v", *got.Spec.Replicas, got.Annotations)
	}
	if got.Spec.ProgressDeadlineSeconds != nil || got.Spec.RevisionHistoryLimit != nil {
		t.Error("want no deadline and no limit of the history: they are others' to set")
	}
	scaled := as[appsv1.Deployment](t, deploymentFor(service(autoscaled)))
	if scaled.Spec.Replicas != nil || scaled.Annotations["polychrome.dev/autoscaled"] != "true" {
		t.Errorf("want no replicas and the mark of it, got %v and %v", scaled.Spec.Replicas, scaled.Annotations)
	}
	if diff := cmp.Diff(got.Spec.Template, scaled.Spec.Template); diff != "" {
		t.Errorf("autoscaling makes other pods (-without +with):\n%s", diff)
	}
}

func TestWhatTheOriginalLeftOutHasTheDefaults(t *testing.T) {
	bare := service(port(0), env(nil), func(svc *polychromev1alpha1.ServiceDefinition) { svc.Spec.Replicas = nil })
	full := service(port(8080), env(map[string]string{}), replicas(1))
	if diff := cmp.Diff(deploymentFor(full), deploymentFor(bare)); diff != "" {
		t.Errorf("deployment (-want +got):\n%s", diff)
	}
}

func TestService(t *testing.T) {
	got := as[corev1.Service](t, serviceFor(service(port(9090))))
	want := corev1.ServiceSpec{
		Type:     corev1.ServiceTypeClusterIP,
		Selector: map[string]string{"app.kubernetes.io/name": "web", "polychrome.dev/service-definition": "web"},
		Ports:    []corev1.ServicePort{{Name: "http", Protocol: "TCP", Port: 80, TargetPort: intstr.FromString("http")}},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("service (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(labelsOf(service()), got.Labels); diff != "" || got.Name != "web" || got.Namespace != "apps" {
		t.Errorf("want apps/web with our labels, got %s/%s:\n%s", got.Namespace, got.Name, diff)
	}
}

func TestEnvironment(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want []string
	}{
		"PORT alone":                           {nil, []string{"PORT=9090"}},
		"PORT last":                            {map[string]string{"Z": "1", "B": "2", "A": "$(B)"}, []string{"A=$(B)", "B=2", "Z=1", "PORT=9090"}},
		"PORT in its place if the spec has it": {map[string]string{"Z": "1", "PORT": "7", "A": ""}, []string{"A=", "PORT=7", "Z=1"}},
		"another case is another variable":     {map[string]string{"port": "7"}, []string{"port=7", "PORT=9090"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, variable := range environment(service(port(9090), env(tt.env))) {
				got = append(got, *variable.Name+"="+*variable.Value)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheOrderOfTheMapDoesNotMatter makes the same map in many orders.
func TestTheOrderOfTheMapDoesNotMatter(t *testing.T) {
	r := newRand(1)
	var first any
	for range 50 {
		shuffled := map[string]string{}
		for _, i := range r.Perm(40) {
			shuffled[fmt.Sprintf("NAME_%d", i)] = fmt.Sprint(i)
		}
		got := deploymentFor(service(env(shuffled)))
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, any(got)); diff != "" {
			t.Fatalf("the same variables in another order (-first +now):\n%s", diff)
		}
	}
}

func TestAPortMovesEverythingThatIsAboutIt(t *testing.T) {
	pod := as[corev1.PodTemplateSpec](t, deploymentFor(service(port(9090))).Spec.Template).Spec
	c := pod.Containers[0]
	target := as[corev1.Service](t, serviceFor(service(port(9090)))).Spec.Ports[0].TargetPort
	if c.Ports[0].ContainerPort != 9090 || c.Env[1] != (corev1.EnvVar{Name: "PORT", Value: "9090"}) {
		t.Errorf("want port and PORT moved to 9090, got %v and %v", c.Ports, c.Env)
	}
	for what, port := range map[string]intstr.IntOrString{"probe": c.ReadinessProbe.TCPSocket.Port, "Service": target} {
		if port.StrVal != c.Ports[0].Name {
			t.Errorf("want the %s to find the port by its name %q, got %v", what, c.Ports[0].Name, port)
		}
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
