package conversation

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"polychrome.dev/controller/generated/testcrds"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// converter stands in for the webhook of the operator: it converts claims
// between their versions.
type converter struct{ *httptest.Server }

func newConverter(t *testing.T) converter {
	server := httptest.NewTLSServer(http.HandlerFunc(convertClaims))
	t.Cleanup(server.Close)
	return converter{server}
}

// crd is the CRD of claims with both versions, of which some are served.
func (c converter) crd(t *testing.T, served ...string) []byte {
	t.Helper()
	var crd unstructured.Unstructured
	if err := yaml.Unmarshal(testcrds.SandboxClaim, &crd.Object); err != nil {
		t.Fatal(err)
	}
	spec := crd.Object["spec"].(map[string]any)
	for _, version := range spec["versions"].([]any) {
		version := version.(map[string]any)
		version["served"] = slices.Contains(served, version["name"].(string))
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"conversionReviewVersions": []any{"v1"},
		"clientConfig":             map[string]any{"url": c.URL, "caBundle": base64.StdEncoding.EncodeToString(ca)},
	}}
	body, err := json.Marshal(crd.Object)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// review is apiextensions.k8s.io/v1 ConversionReview.
type review struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Request    struct {
		UID     string           `json:"uid"`
		Desired string           `json:"desiredAPIVersion"`
		Objects []map[string]any `json:"objects"`
	} `json:"request,omitzero"`
	Response struct {
		UID       string           `json:"uid"`
		Converted []map[string]any `json:"convertedObjects"`
		Result    map[string]any   `json:"result"`
	} `json:"response"`
}

func convertClaims(w http.ResponseWriter, r *http.Request) {
	var asked review
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := review{APIVersion: asked.APIVersion, Kind: asked.Kind}
	answer.Response.UID, answer.Response.Result = asked.Request.UID, map[string]any{"status": "Success"}
	for _, claim := range asked.Request.Objects {
		answer.Response.Converted = append(answer.Response.Converted, convertClaim(claim, asked.Request.Desired))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// convertClaim gives each template a pool of its own, and each pool that is not
// one the default template.
func convertClaim(claim map[string]any, to string) map[string]any {
	claim["apiVersion"] = to
	spec, ok := claim["spec"].(map[string]any)
	if !ok {
		return claim
	}
	switch template, pool := nameIn(spec["sandboxTemplateRef"]), nameIn(spec["warmPoolRef"]); {
	case strings.HasSuffix(to, execution.V1beta1) && template != "":
		delete(spec, "sandboxTemplateRef")
		delete(spec, "warmpool")
		spec["warmPoolRef"] = map[string]any{"name": shadowPool + template}
	case strings.HasSuffix(to, execution.V1alpha1) && pool != "":
		delete(spec, "warmPoolRef")
		name, own := strings.CutPrefix(pool, shadowPool)
		if !own {
			name = conversation.DefaultTemplate
		}
		spec["sandboxTemplateRef"] = map[string]any{"name": name}
	}
	return claim
}

const shadowPool = "shadow-pool-"

func nameIn(reference any) string {
	fields, _ := reference.(map[string]any)
	name, _ := fields["name"].(string)
	return name
}
