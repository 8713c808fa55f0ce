package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc/grpclog"
)

// startEtcd runs a single member that keeps its data in dir. Its ports are whatever was free; as the advertised
// addresses are never dialled, they stay the same from run to run and the data folder keeps fitting.
func startEtcd(dir string) (*embed.Etcd, error) {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	anywhere := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = anywhere, anywhere
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = anywhere, anywhere
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-member.Server.ReadyNotify():
		return member, nil
	case err := <-member.Err():
		return nil, fmt.Errorf("starting etcd: %w", err)
	case <-time.After(startLimit):
		return nil, errors.New("starting etcd: time is up")
	}
}
