package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// loadConfig reads the kubeconfig that was named, else takes the pod's own
// ServiceAccount. Nothing else is looked for: a controller that found some
// kubeconfig by chance would work on some cluster by chance.
func loadConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("using the pod's ServiceAccount, as --%s and KUBECONFIG are not set: %w", flagKubeconfig, err)
		}
		return config, nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	if files := filepath.SplitList(kubeconfig); len(files) > 1 {
		rules = &clientcmd.ClientConfigLoadingRules{Precedence: files}
	}
	loaded, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config, err := clientcmd.NewDefaultClientConfig(*loaded, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: %w", kubeconfig, err)
	}
	return config, nil
}

// identified copies a configuration and says in every request who asks.
func identified(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.UserAgent = component + "/" + version()
	return config
}

// apart copies a configuration for the lease alone: a renewal must not wait
// behind anything else. Configurations that differ in nothing share a
// connection, and a dialer equals none but itself.
func apart(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 10 * time.Second}).DialContext
	}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, network, address)
	}
	return config
}

// apiServers are the addresses, host:port, under which the API server may be
// reached from here.
func apiServers(config *rest.Config) []string {
	var addresses []string
	if at, _, err := rest.DefaultServerUrlFor(config); err == nil {
		port := at.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
		}
		addresses = append(addresses, net.JoinHostPort(at.Hostname(), port))
	}
	if host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"); host != "" && port != "" {
		addresses = append(addresses, net.JoinHostPort(host, port))
	}
	return addresses
}
