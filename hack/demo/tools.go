package main

import (
	"fmt"
	"net"
	"net/http"

	"polychrome.dev/controller/test/mcpserver"
)

// toolsAddress is where the MCP server listens, as examples/toolservices says.
const toolsAddress = "127.0.0.1:18931"

// serveTools runs an MCP server until close is called.
func serveTools() (closed func(), err error) {
	listener, err := net.Listen("tcp", toolsAddress)
	if err != nil {
		return nil, fmt.Errorf("serving the tools of the example: %w", err)
	}
	server := &http.Server{Handler: mcpserver.New(
		mcpserver.Tool("current-weather", "Tells what the weather is at a place."),
		mcpserver.Tool("forecast", "Tells what it will be in the coming days."),
	)}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}
