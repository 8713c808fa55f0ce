package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports to choose from lie below the range the kernel hands to outgoing connections. A restarted server asks for its
// old port again, and must not find it taken by a client that was dialling it meanwhile.
const (
	firstPort = 20000
	portCount = 10000
	attempts  = 50
)

// listen opens the API server's listener. Handing over an open listener leaves no moment in which the port is free.
func listen(port int) (net.Listener, error) {
	if port != 0 {
		listener, err := net.Listen("tcp", address(port))
		if err != nil {
			return nil, fmt.Errorf("listening: %w", err)
		}
		return listener, nil
	}
	var err error
	for range attempts {
		var listener net.Listener
		if listener, err = net.Listen("tcp", address(firstPort+rand.IntN(portCount))); err == nil {
			return listener, nil
		}
	}
	return nil, fmt.Errorf("finding a free port: %w", err)
}

func address(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
