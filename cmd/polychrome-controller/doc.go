// Polychrome-controller keeps what people ask for in Kubernetes objects of
// the group polychrome.dev true.
//
//	polychrome-controller [run] [flags]   work until SIGTERM or SIGINT
//	polychrome-controller crds            print the CRDs, for kubectl apply -f -
//	polychrome-controller version         print the version
//
// Every flag has a twin in the environment: POLYCHROME_ and the flag's name
// in capitals, with underscores. A flag wins over its twin.
//
// The first SIGTERM or SIGINT lets the passes in flight finish, gives up the
// lease and exits with 0; the second exits at once. A lost lease, or a part
// that ends unexpectedly, exits with 1; a mistake in flags or environment
// exits with 2.
package main
