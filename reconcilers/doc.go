// Package reconcilers puts the reconcilers on a framework.Manager: for each
// kind its resources, informers, sources and controller. It decides nothing;
// the folders below it do.
package reconcilers
