// Package crds reads CustomResourceDefinitions from folders and has an API server serve them.
package crds
