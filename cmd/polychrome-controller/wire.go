package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"os"

	"k8s.io/client-go/rest"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/reconcilers/routine"
	"polychrome.dev/controller/reconcilers/toolservice"
)

const (
	// component is the program in events, leases and the user agent.
	component = "polychrome-controller"
	// leaseName is the lease in the control namespace; the Role names it.
	leaseName = "polychrome-controller"
)

// run works until ctx ends.
func run(ctx context.Context, o *options, log *slog.Logger) error {
	config, err := loadConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	return runOn(ctx, config, o, log)
}

// runOn works on one API server until ctx ends.
func runOn(ctx context.Context, config *rest.Config, o *options, log *slog.Logger) error {
	config = identified(config)
	connections := framework.Connect(config)
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		return err
	}
	recorder, endEvents, err := framework.NewEvents(ctx, connections.Unary, component)
	if err != nil {
		return err
	}
	defer endEvents()
	election, err := electionFor(o, config)
	if err != nil {
		return err
	}
	manager, err := newManager(framework.ManagerOptions{
		Connections: connections,
		Election:    election,
		Events:      recorder,
		Log:         log,
	}, o)
	if err != nil {
		return err
	}
	reconcilers.AddConversations(manager, clients, o.namespace, o.workers, conversation.Options{
		Template:         o.template,
		WarmPool:         o.warmPool,
		ClaimVersion:     claimVersion(o.sandboxAPI),
		Generation:       o.generation,
		RollConcurrency:  o.rollConcurrency,
		RetentionSeconds: o.retentionSeconds,
		Log:              log.With("controller", "conversation"),
	})
	reconcilers.AddToolServices(manager, clients, o.namespace, o.workers, toolservice.Options{
		AllowLoopback: o.allowLoopback,
		APIServer:     apiServers(config),
		Log:           log.With("controller", "toolservice"),
	})
	reconcilers.AddRoutines(manager, clients, o.namespace, o.workers, routine.Options{Log: log.With("controller", "routine")})
	reconcilers.AddApps(manager, clients, o.appsNamespace, o.workers)
	return manager.Run(ctx)
}

// claimVersion is the only version that may be used, empty for any.
func claimVersion(version string) string {
	if version == versionAuto {
		return ""
	}
	return version
}

// newManager completes the options with the program's names and ports.
func newManager(mo framework.ManagerOptions, o *options) (*framework.Manager, error) {
	mo.Names = framework.Names{
		Domain:       polychromev1alpha1.GroupName,
		FieldManager: polychromev1alpha1.FieldManager,
		MetricPrefix: "polychrome",
		Component:    component,
	}
	mo.Version = version()
	var err error
	if mo.Health, err = listen(o.healthAddress); err != nil {
		return nil, fmt.Errorf("serving health: %w", err)
	}
	if mo.Metrics, err = listen(o.metricsAddress); err != nil {
		return nil, fmt.Errorf("serving metrics: %w", err)
	}
	return framework.NewManager(mo)
}

// electionFor is the lease to run for, or nil to lead at once.
func electionFor(o *options, config *rest.Config) (*framework.Election, error) {
	if !o.leaderElect {
		return nil, nil
	}
	identity, err := identity()
	if err != nil {
		return nil, err
	}
	return &framework.Election{Namespace: o.namespace, Name: leaseName, Identity: identity, Config: apart(config)}, nil
}

// listen opens a port; the manager serves on it.
func listen(address string) (net.Listener, error) {
	if address == addressOff {
		return nil, nil
	}
	return net.Listen("tcp", address)
}

// identity tells this process from every other that ever ran on this host.
func identity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("asking for the name of the host: %w", err)
	}
	return host + "_" + rand.Text()[:10], nil
}
