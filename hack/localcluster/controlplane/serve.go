package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"polychrome.dev/controller/hack/localcluster/crds"
)

// shutdownGrace is how long the components may take to drain. Nothing is lost by cutting them off.
const shutdownGrace = time.Second

// controlPlane is what the steps of the start share.
type controlPlane struct {
	options *options
	parts   *components
	certs   *pki
	// crds are the definitions to serve before the controllers start.
	crds []crds.Definition
	// server is the address of the API server.
	server string
	// kubeconfig is for the components, which need it before the cluster is ready for anybody else.
	kubeconfig string
}

// serve runs everything until the context ends, and returns why it ended.
func serve(ctx context.Context, stop context.CancelCauseFunc, o *options) error {
	if err := os.Remove(o.kubeconfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the kubeconfig of an earlier run: %w", err)
	}
	c := &controlPlane{options: o, parts: &components{ctx: ctx, stop: stop}, kubeconfig: o.state("components.kubeconfig")}
	var err error
	if c.crds, err = crds.Read(o.crds); err != nil {
		return err
	}
	if c.certs, err = loadOrCreatePKI(o.state("pki")); err != nil {
		return err
	}
	store, err := startEtcd(o.state("etcd"))
	if err != nil {
		return err
	}
	// An orderly close would wait for the watches of an API server that may be past answering.
	defer store.Server.HardStop()
	c.parts.watch("etcd", store.Err())
	listener, err := listen(o.port)
	if err != nil {
		return err
	}
	c.server = "https://" + listener.Addr().String()
	c.parts.start("API server", func(ctx context.Context) error {
		return runAPIServer(ctx, o, c.certs, store.Clients[0].Addr().String(), listener)
	})
	if err := c.bringUp(ctx); err != nil {
		// Without effect where the context has ended before: then this error only followed from that.
		stop(err)
	} else {
		fmt.Println("ready", c.server)
	}
	<-ctx.Done()
	c.parts.wait(shutdownGrace)
	return context.Cause(ctx)
}

// publish makes the kubeconfig appear complete or not at all.
func (c *controlPlane) publish(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("creating the folder of the kubeconfig: %w", err)
	}
	temporary := path + ".tmp"
	if err := writeKubeconfig(temporary, c.server, c.certs); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("publishing the kubeconfig: %w", err)
	}
	return nil
}
