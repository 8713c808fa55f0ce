package main

import (
	"fmt"
	"io"

	"polychrome.dev/controller/generated/crds"
)

// printCRDs writes every definition of ours as one stream of YAML.
func printCRDs(out io.Writer) error {
	if _, err := out.Write(crds.YAML()); err != nil {
		return fmt.Errorf("printing the CRDs: %w", err)
	}
	return nil
}
