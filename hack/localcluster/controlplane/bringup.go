package main

import (
	"context"
	"fmt"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"polychrome.dev/controller/hack/localcluster/crds"
)

const (
	pollInterval = 50 * time.Millisecond
	// startLimit is generous: on a machine that is busy compiling, a start takes many times its usual three seconds.
	startLimit = 3 * time.Minute
	// serviceRange is where cluster addresses of Services come from.
	serviceRange = "10.96.0.0/16"
)

// bringUp takes a started API server through the rest of the start, up to the point where a pod could be created.
func (c *controlPlane) bringUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := writeKubeconfig(c.kubeconfig, c.server, c.certs); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the components' kubeconfig: %w", err)
	}
	cfg.QPS = -1
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if err := waitForAPIServer(ctx, client); err != nil {
		return err
	}
	definitions, err := apiextensions.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("making a client for definitions: %w", err)
	}
	if err := crds.Apply(ctx, definitions, c.crds); err != nil {
		return err
	}
	if !c.options.apiOnly {
		c.parts.start("controller manager", func(ctx context.Context) error {
			return runControllerManager(ctx, c.kubeconfig, c.certs)
		})
		c.parts.start("scheduler", func(ctx context.Context) error {
			return runScheduler(ctx, c.kubeconfig)
		})
		if err := waitForControllers(ctx, client); err != nil {
			return err
		}
	}
	return c.publish(c.options.kubeconfig)
}

func waitForAPIServer(ctx context.Context, client kubernetes.Interface) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		last = client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the API server: %w (last answer: %v)", err, last)
	}
	return nil
}

// waitForControllers waits for the default service account, which a controller makes and without which no pod is
// admitted.
func waitForControllers(ctx context.Context, client kubernetes.Interface) error {
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the default service account: %w", err)
	}
	return nil
}
