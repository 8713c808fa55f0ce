// Package probe asks an MCP server for its tools and says what came of it. The
// server is not trusted, and neither is its URL.
//
// A probe tries the stateless era of the protocol first (server/discover), then
// the one with sessions (initialize), and reads the list of tools page by page.
// It sends POST, and DELETE to end a session; never GET. One deadline is over
// everything, the end of the session included. Whatever happens is found to be
// one of the reasons of a ToolService, in words of our own.
//
// The official SDK carries the messages: its streamable transport, its
// JSON-RPC and its types of what is sent. Four things are done here, because
// the SDK's client does not do them:
//
//   - The dialogue (dialogue.go). The client follows any failure of
//     server/discover with initialize, also a refusal, has no guard on pages,
//     and drops an HTTP status from its errors.
//   - The list (catalog.go). The SDK's types do not tell an unset hint from
//     false, and do not keep a schema as it was sent.
//   - The gate (gate.go), which bounds what is read, adds the token, refuses
//     redirects and notes what HTTP says.
//   - The line (line.go), which checks each address when it is dialled, with
//     the rules of package guard, and closes every connection.
//
// What must always be true:
//
//   - The token goes to the scheme, host and port of the URL, and into no
//     message and no log.
//   - No body, header or address that a server or resolver gave is in a
//     message.
//   - A probe leaves no goroutine, connection or session behind, except a
//     session that the server does not end when it is asked to.
//   - What is kept and parsed is bounded in bytes, pages, tools and depth.
//
// Requests of the server's own, such as a ping in the middle of an answer, are
// not answered. A stream that the server cuts, to be resumed by GET, is not
// resumed.
package probe
