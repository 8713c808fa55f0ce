package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

// freeAddress finds an address for a process that cannot be given an open listener.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// healthy waits until a health endpoint answers with success.
func healthy(ctx context.Context, what, url string) error {
	return eventually(ctx, what, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("answer of %s: %s", url, response.Status)
		}
		return nil
	})
}
