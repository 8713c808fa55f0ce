package servicedefinition

import (
	"os"
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestInvalid(t *testing.T) {
	tests := map[string]struct {
		service *polychromev1alpha1.ServiceDefinition
		want    polychromev1alpha1.Reason
	}{
		"a usual one":                           {service(), ""},
		"an image alone":                        {service(image("web")), ""},
		"an image of a registry's port":         {service(image("localhost:5000/team/web:1.2")), ""},
		"an image by its digest":                {service(image("example.com/web@sha256:" + strings.Repeat("0a", 32))), ""},
		"no image":                              {service(image("")), "InvalidImage"},
		"an image with a scheme":                {service(image("https://example.com/web")), "InvalidImage"},
		"an image in capitals":                  {service(image("example.com/Web:1")), "InvalidImage"},
		"an image on two lines":                 {service(image("web\n")), "InvalidImage"},
		"an image that is too long":             {service(image(strings.Repeat("a", 1025))), "InvalidImage"},
		"an image that is just not":             {service(image(strings.Repeat("a", 1024))), ""},
		"the longest name":                      {service(named(strings.Repeat("a", 63))), ""},
		"a name that is too long":               {service(named(strings.Repeat("a", 64))), "InvalidName"},
		"a name that begins with a digit":       {service(named("1web")), "InvalidName"},
		"a name with a dot":                     {service(named("web.api")), "InvalidName"},
		"a port nobody named":                   {service(port(0)), ""},
		"the last port":                         {service(port(65535)), ""},
		"a port too many":                       {service(port(65536)), "InvalidSpec"},
		"a port below all":                      {service(port(-1)), "InvalidSpec"},
		"no replicas":                           {service(replicas(0)), ""},
		"more replicas than allowed now":        {service(replicas(150)), ""},
		"fewer than none":                       {service(replicas(-1)), "InvalidSpec"},
		"fewer than none, which nobody applies": {service(replicas(-1), autoscaled), ""},
		"variables of unusual names":            {service(env(map[string]string{"a.b-c": "", "1": "", " ": ""})), ""},
		"a variable with an equals sign":        {service(env(map[string]string{"OK": "", "A=B": ""})), "InvalidSpec"},
		"a variable without a name":             {service(env(map[string]string{"": ""})), "InvalidSpec"},
		"a name before an image":                {service(named("1"), image("")), "InvalidName"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, wrong := invalid(tt.service)
			if got.reason != tt.want || wrong != (tt.want != "") {
				t.Errorf("want %q, got %q: %s", tt.want, got.reason, got.message)
			}
			if wrong && (!got.stalled || got.phase != polychromev1alpha1.ServiceDefinitionInvalid || got.message == "") {
				t.Errorf("want a verdict that stalls and says why, got %+v", got)
			}
		})
	}
}

// TestTheSchemaHasTheSameRules fails when the patterns here and in the schema
// come apart.
func TestTheSchemaHasTheSameRules(t *testing.T) {
	schema, err := os.ReadFile("../../generated/crds/polychrome.dev_servicedefinitions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{
		"rule: self.matches('" + imageReference.String() + "')\n",
		"name.matches('" + environmentName.String() + "'))\n",
		"maxLength: 1024\n",
	} {
		if !strings.Contains(string(schema), rule) {
			t.Errorf("the schema lacks %s", rule)
		}
	}
}
