package crds

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Definition is one CustomResourceDefinition as found in a file.
type Definition struct {
	name string
	body []byte
}

// Read reads the definitions of all folders. Other kinds in the same files are passed over: a folder of manifests
// may hold a kustomization as well. A folder without any definition is a mistyped path.
func Read(folders []string) ([]Definition, error) {
	var all []Definition
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return nil, fmt.Errorf("listing definitions: %w", err)
		}
		before := len(all)
		for _, file := range files {
			found, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", file, err)
			}
			all = append(all, found...)
		}
		if len(all) == before {
			return nil, fmt.Errorf("no CustomResourceDefinition in %s", folder)
		}
	}
	return all, nil
}

func readFile(file string) ([]Definition, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var definitions []Definition
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		body, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return definitions, nil
		}
		if err != nil {
			return nil, err
		}
		var meta metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(body, &meta); err != nil {
			return nil, err
		}
		if meta.Kind == "CustomResourceDefinition" {
			definitions = append(definitions, Definition{name: meta.Name, body: body})
		}
	}
}
