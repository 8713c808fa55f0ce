package main

import (
	"context"
	"fmt"

	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controlleroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

func runControllerManager(ctx context.Context, kubeconfig string, certs *pki) error {
	s, err := controlleroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return fmt.Errorf("making the options: %w", err)
	}
	known, disabled, aliases := controllermanager.KnownControllers(), controllermanager.ControllersDisabledByDefault(), controllermanager.ControllerAliases()
	if err := parseFlags(s.Flags(known, disabled, aliases), []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--service-account-private-key-file=" + certs.tokenKey,
		"--root-ca-file=" + certs.caCert,
		"--use-service-account-credentials=true",
		// The default of 20 requests a second takes five seconds to start some forty controllers.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}); err != nil {
		return err
	}
	cfg, err := s.Config(ctx, known, disabled, aliases)
	if err != nil {
		return fmt.Errorf("completing the options: %w", err)
	}
	return controllermanager.Run(ctx, cfg.Complete())
}

func runScheduler(ctx context.Context, kubeconfig string) error {
	s := scheduleroptions.NewOptions()
	if err := parseFlags(*s.Flags, []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
	}); err != nil {
		return err
	}
	cfg, sched, err := scheduler.Setup(ctx, s)
	if err != nil {
		return fmt.Errorf("setting up: %w", err)
	}
	return scheduler.Run(ctx, cfg, sched)
}
