package main

import (
	"fmt"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"polychrome.dev/controller/generated/clientset/versioned"
)

// cluster is how the demo itself reaches the cluster, as an administrator.
type cluster struct {
	config     *rest.Config
	polychrome versioned.Interface
	core       corev1client.CoreV1Interface
}

// connect finds the cluster where kubectl would.
func connect(o *options) (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	config.UserAgent = fieldManager
	c := &cluster{config: config}
	if c.polychrome, err = versioned.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the client: %w", err)
	}
	if c.core, err = corev1client.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making the core client: %w", err)
	}
	if o.existing {
		fmt.Printf("demo: using the cluster at %s\n", config.Host)
	}
	return c, nil
}
