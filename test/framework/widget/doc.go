// Package widget is a kind for tests, written by hand as a stranger to the
// project would: types, deep copies, definitions and a small client.
package widget
