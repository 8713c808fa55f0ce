package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes the administrator's access with everything inline, so that the file can be copied anywhere.
func writeKubeconfig(path, server string, certs *pki) error {
	var contents [3][]byte
	for i, file := range []string{certs.caCert, certs.adminCert, certs.adminKey} {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading credentials for the kubeconfig: %w", err)
		}
		contents[i] = content
	}
	const name = "localcluster"
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: contents[0]}
	cfg.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: contents[1], ClientKeyData: contents[2]}
	cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	cfg.CurrentContext = name
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}
