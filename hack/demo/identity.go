package main

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// serviceAccount is the controller's, of manifests/base.
	serviceAccount = "polychrome-controller"
	// tokenSeconds is how long its token lasts: a day of demonstration.
	tokenSeconds = int64(24 * 60 * 60)
)

// writeIdentity writes a kubeconfig with which the controller is nobody but
// its ServiceAccount.
func writeIdentity(ctx context.Context, c *cluster, path string) error {
	seconds := tokenSeconds
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	granted, err := c.core.ServiceAccounts(namespace).CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("asking for a token of ServiceAccount %s: %w", serviceAccount, err)
	}
	identity, err := identityOf(c.config, granted.Status.Token)
	if err != nil {
		return err
	}
	if err := clientcmd.WriteToFile(*identity, path); err != nil {
		return fmt.Errorf("writing the controller's kubeconfig: %w", err)
	}
	return nil
}

// identityOf is the way to the same server with another identity: nothing of
// the administrator's credentials is taken over.
func identityOf(admin *rest.Config, token string) (*clientcmdapi.Config, error) {
	server := rest.AnonymousClientConfig(admin)
	if err := rest.LoadTLSFiles(server); err != nil {
		return nil, fmt.Errorf("reading the server's certificate authority: %w", err)
	}
	const name = "controller"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   server.Host,
		TLSServerName:            server.ServerName,
		InsecureSkipTLSVerify:    server.Insecure,
		CertificateAuthorityData: server.CAData,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	return config, nil
}
