package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"polychrome.dev/controller/framework"
)

func main() {
	namespace := flag.String("namespace", "default", "the `NAMESPACE` whose Websites are served")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	framework.RouteKlog(log)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *namespace, log)
	stop()
	if err != nil {
		log.Error("ending", "error", err)
		os.Exit(1)
	}
}

// run works until ctx ends, on the cluster of KUBECONFIG or ~/.kube/config,
// in a pod on its own.
func run(ctx context.Context, namespace string, log *slog.Logger) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.UserAgent = component
	events, endEvents, err := framework.NewEvents(ctx, config, component)
	if err != nil {
		return err
	}
	defer endEvents()
	manager, err := newManager(config, namespace, log, events)
	if err != nil {
		return err
	}
	log.Info("starting", "server", config.Host, "namespace", namespace)
	return manager.Run(ctx)
}
