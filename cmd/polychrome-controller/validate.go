package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// addressOff is the address that is not listened on.
const addressOff = "off"

// versionAuto leaves the choice of a version to discovery.
const versionAuto = "auto"

// maxWorkers keeps a slip of the hand from taking all memory.
const maxWorkers = 1000

// validate refuses values that cannot work, and says which ones can. Flags
// are named; whoever set the twin finds the flag's name in it.
func (o *options) validate() error {
	return errors.Join(
		o.validateNames(),
		o.validateAddresses(),
		o.validateWorkers(),
		o.validateLog(),
	)
}

func (o *options) validateNames() error {
	var refused []error
	if problems := validation.IsDNS1123Label(o.namespace); len(problems) > 0 {
		refused = append(refused, refuse(flagNamespace, o.namespace, "the name of a namespace: "+strings.Join(problems, "; ")))
	}
	if problems := validation.IsDNS1123Label(o.appsNamespace); len(problems) > 0 {
		refused = append(refused, refuse(flagApps, o.appsNamespace, "the name of a namespace: "+strings.Join(problems, "; ")))
	}
	if problems := validation.IsDNS1123Subdomain(o.template); len(problems) > 0 {
		refused = append(refused, refuse(flagTemplate, o.template, "the name of a SandboxTemplate: "+strings.Join(problems, "; ")))
	}
	if problems := validation.IsDNS1123Subdomain(o.warmPool); len(problems) > 0 {
		refused = append(refused, refuse(flagWarmPool, o.warmPool, "the name of a SandboxWarmPool: "+strings.Join(problems, "; ")))
	}
	switch o.sandboxAPI {
	case versionAuto, execution.V1alpha1, execution.V1beta1:
	default:
		refused = append(refused, refuse(flagSandboxAPI, o.sandboxAPI, "auto, v1alpha1 or v1beta1"))
	}
	return errors.Join(refused...)
}

// validateAddresses keeps the metrics on loopback: whoever reaches them is
// not asked who they are.
func (o *options) validateAddresses() error {
	var refused []error
	if _, err := splitAddress(o.healthAddress); err != nil {
		refused = append(refused, refuse(flagHealth, o.healthAddress, `"off", or HOST:PORT as in ":8081": `+err.Error()))
	}
	switch host, err := splitAddress(o.metricsAddress); {
	case err != nil:
		refused = append(refused, refuse(flagMetrics, o.metricsAddress, `"off", or HOST:PORT as in "127.0.0.1:8080": `+err.Error()))
	case o.metricsAddress != addressOff && !loopback(host):
		refused = append(refused, refuse(flagMetrics, o.metricsAddress, `a loopback address, as in "127.0.0.1:8080"`))
	}
	return errors.Join(refused...)
}

func (o *options) validateWorkers() error {
	if o.workers < 1 || o.workers > maxWorkers {
		return refuse(flagWorkers, strconv.Itoa(o.workers), "a whole number from 1 to 1000")
	}
	return nil
}

func (o *options) validateLog() error {
	_, err := framework.NewLogger(io.Discard, o.logFormat, o.logLevel)
	return err
}

func refuse(flag, value, wanted string) error {
	return fmt.Errorf("reading --%s or %s: %q cannot be used; it takes %s", flag, twin(flag), value, wanted)
}

// splitAddress returns the host of HOST:PORT, and checks the port.
func splitAddress(address string) (host string, err error) {
	if address == addressOff {
		return "", nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("the port is no number from 0 to 65535")
	}
	return host, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
