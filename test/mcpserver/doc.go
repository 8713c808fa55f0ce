// Package mcpserver is a real MCP server, on the official SDK, for tests and
// for the demo. It offers tools that do nothing, which can be changed while it
// runs, in either era of the protocol or in both.
package mcpserver
