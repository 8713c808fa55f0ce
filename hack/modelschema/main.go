//go:build ignore

// Modelschema prints, as a version 2 Swagger document, the OpenAPI models of the
// API types and of everything they refer to. The code generator runs it with the
// package generated/openapi laid over the tree, which is why an ordinary build
// leaves it out.
package main

import (
	"encoding/json"
	"log"
	"os"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"polychrome.dev/controller/generated/openapi"
)

// root is the prefix of the models whose references are followed.
const root = "polychrome.dev/controller/apis/"

func main() {
	log.SetFlags(0)
	log.SetPrefix("modelschema: ")
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	if err := out.Encode(swagger()); err != nil {
		log.Fatalf("printing the models: %v", err)
	}
}

// swagger collects the models that can be reached from our own. The rest of
// the packages they come from would only swell the apply configurations.
func swagger() *spec.Swagger {
	models := openapi.GetOpenAPIDefinitions(reference)
	wanted := spec.Definitions{}
	var follow func(name string)
	follow = func(name string) {
		model, found := models[name]
		if !found {
			log.Fatalf("the model %s is referred to and not generated", name)
		}
		if _, seen := wanted[friendly(name)]; seen {
			return
		}
		wanted[friendly(name)] = schemaOf(model)
		for _, dependency := range model.Dependencies {
			follow(dependency)
		}
	}
	for name := range models {
		if strings.HasPrefix(name, root) {
			follow(name)
		}
	}
	return &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "polychrome", Version: "unversioned"}},
		Paths:       &spec.Paths{},
		Definitions: wanted,
	}}
}

// schemaOf prefers the model that was written for version 2 where there is one.
func schemaOf(model common.OpenAPIDefinition) spec.Schema {
	if v2, ok := model.Schema.Extensions[common.ExtensionV2Schema]; ok {
		if schema, ok := v2.(spec.Schema); ok {
			return schema
		}
	}
	return model.Schema
}

func reference(name string) spec.Ref {
	return spec.MustCreateRef("#/definitions/" + friendly(name))
}

// friendly replaces the slashes of a Go import path. A model whose key has
// slashes is not found by the apply configuration generator, which then
// generates it without a type and says nothing.
func friendly(name string) string {
	if strings.Contains(name, "/") {
		return util.ToRESTFriendlyName(name)
	}
	return name
}
