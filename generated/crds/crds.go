// Package crds embeds the CustomResourceDefinitions of the group
// polychrome.dev, one YAML document per kind, as they are installed by
// manifests/crds.
package crds

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Document is one CustomResourceDefinition.
type Document struct {
	// Name is the name of the definition, such as workflows.polychrome.dev.
	Name string
	// YAML is the definition itself, opened by a line "---".
	YAML []byte
}

// Documents returns every definition, ordered by name.
func Documents() []Document {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(fmt.Sprintf("reading the embedded definitions: %v", err))
	}
	documents := make([]Document, 0, len(entries))
	for _, entry := range entries {
		group, plural, found := strings.Cut(strings.TrimSuffix(entry.Name(), ".yaml"), "_")
		if !found {
			continue
		}
		data, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(fmt.Sprintf("reading the embedded %s: %v", entry.Name(), err))
		}
		documents = append(documents, Document{Name: plural + "." + group, YAML: data})
	}
	return documents
}

// YAML returns every definition in one stream, each document opened by a line
// "---". kubectl apply takes it as it is.
func YAML() []byte {
	var stream []byte
	for _, document := range Documents() {
		stream = append(stream, document.YAML...)
	}
	return stream
}
