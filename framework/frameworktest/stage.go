package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/framework"
)

// stage is what all runs share: one connection above all, so that a life
// costs no handshake.
type stage struct {
	Crash
	host     string
	base     http.RoundTripper
	kube     kubernetes.Interface
	live     dynamic.Interface
	metadata metadata.Interface
}

func newStage(c Crash) (*stage, error) {
	if c.Config == nil || c.Scenario == nil {
		return nil, errors.New("a crash needs Config and Scenario")
	}
	c.Config = rest.CopyConfig(c.Config)
	c.Config.QPS, c.Config.RateLimiter = -1, nil
	if len(c.Points) == 0 {
		c.Points = []Point{BeforeSend, AfterCommit, AfterReply, ErrorThoughCommitted}
	}
	if c.Parallel <= 0 {
		c.Parallel = 8
	}
	if c.Patience <= 0 {
		c.Patience = settlePatience
	}
	if c.Allowance <= 0 {
		c.Allowance = 2
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	s := &stage{Crash: c}
	return s, s.connect()
}

func (s *stage) connect() error {
	client, err := rest.HTTPClientFor(s.Config)
	if err != nil {
		return fmt.Errorf("making the connection: %w", err)
	}
	if s.base = client.Transport; s.base == nil {
		s.base = http.DefaultTransport
	}
	host, _, err := rest.DefaultServerUrlFor(s.Config)
	if err != nil {
		return fmt.Errorf("reading the API server's address: %w", err)
	}
	s.host = host.String()
	var kubeErr, liveErr, metadataErr error
	s.kube, kubeErr = kubernetes.NewForConfigAndClient(s.Config, client)
	s.live, liveErr = dynamic.NewForConfigAndClient(s.Config, client)
	s.metadata, metadataErr = metadata.NewForConfigAndClient(s.Config, client)
	if err := errors.Join(kubeErr, liveErr, metadataErr); err != nil {
		return fmt.Errorf("making clients: %w", err)
	}
	return nil
}

// access is a program's access to the API server over a transport. It speaks
// JSON, so that writes can be read.
func (s *stage) access(transport http.RoundTripper) *rest.Config {
	return &rest.Config{
		Host: s.host, Transport: transport, QPS: -1, UserAgent: s.Config.UserAgent,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
	}
}

// play runs the journey once.
func (s *stage) play(ctx context.Context, p plan) outcome {
	namespace, err := s.kube.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crash-"}}, metav1.CreateOptions{})
	if err != nil {
		return outcome{err: fmt.Errorf("creating a namespace: %w", err)}
	}
	j := &journey{
		stage: s, ledger: newLedger(p, s.Invariants), turned: make(chan struct{}),
		run: Run{Name: p.String(), Namespace: namespace.Name, Config: rest.CopyConfig(s.Config), Live: s.live, Clock: NewClock()},
	}
	defer func() { s.clear(ctx, namespace.Name, j.caches) }()
	if j.scenario, err = s.Scenario(j.run); err != nil {
		return outcome{err: fmt.Errorf("making the scenario: %w", err)}
	}
	state, restless, err := j.play(ctx)
	out := j.ledger.result()
	out.state, out.restless, out.err = state, restless, err
	return out
}

// clear deletes a namespace. Whatever holds a finalizer in it has nobody left
// to take it off.
func (s *stage) clear(ctx context.Context, namespace string, caches []framework.Cache) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := s.kube.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})
	for _, cached := range caches {
		client := s.metadata.Resource(cached.Resource).Namespace(namespace)
		left, listErr := client.List(ctx, metav1.ListOptions{})
		if listErr != nil {
			continue
		}
		for i := range left.Items {
			if len(left.Items[i].Finalizers) > 0 {
				_, patchErr := client.Patch(ctx, left.Items[i].Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				err = errors.Join(err, patchErr)
			}
		}
	}
	if err != nil {
		s.Log("clearing the namespace %s: %v", namespace, err)
	}
}
