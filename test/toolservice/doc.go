// Package toolservice holds the journeys of ToolServices through the real API
// server. The servers that they ask are played by the tests, and time stands
// until it is stepped.
package toolservice
