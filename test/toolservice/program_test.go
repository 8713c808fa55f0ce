package toolservice

import (
	"log/slog"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/reconcilers/toolservice"
)

// program is what cmd makes, without its servers and its election, and with
// servers of the test's own to ask.
func program(access *rest.Config, clock clock.WithTicker, namespace string, s *servers, events record.EventRecorder, log *slog.Logger,
) (*framework.Manager, func() bool, error) {
	connections := framework.Connect(access)
	manager, err := framework.NewManager(framework.ManagerOptions{
		Names: framework.Names{
			Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
			MetricPrefix: "polychrome", Component: "polychrome-controller",
		},
		Connections: connections, Clock: clock, Events: events, Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		return nil, nil, err
	}
	idle := reconcilers.AddToolServices(manager, clients, namespace, 0, toolservice.Options{
		Probe: s.probe, Now: clock.Now, Log: manager.Log,
	})
	return manager, idle, nil
}
