// Package layering tests which package may import which, and that pure files
// stay pure. It has no code of its own: the rules and the check are in its
// tests. When the check fails, move the code; do not widen the rule.
package layering
