package execution

import "testing"

func TestPoolFor(t *testing.T) {
	of := poolsFor("warm", "template")
	const shadow = "shadow-pool-template"
	cases := []struct {
		name  string
		claim claim
		seen  poolSight
		want  string
	}{
		{"both there", claim{}, poolSight{readable: true, warm: true, shadow: true}, "warm"},
		{"neither there", claim{}, poolSight{readable: true}, "warm"},
		{"only the template's own", claim{}, poolSight{readable: true, shadow: true}, shadow},
		{"not known which are there", claim{}, poolSight{shadow: true}, "warm"},
		{"a claim without a sandbox follows", claim{pool: "warm"}, poolSight{readable: true, shadow: true}, shadow},
		{"and back", claim{pool: shadow}, poolSight{readable: true, warm: true, shadow: true}, "warm"},
		{"one with a sandbox stays", claim{pool: shadow, sandbox: "s"}, poolSight{readable: true, warm: true}, shadow},
		{"with either", claim{pool: "warm", sandbox: "s"}, poolSight{readable: true, shadow: true}, "warm"},
		{"but not with somebody else's", claim{pool: "theirs", sandbox: "s"}, poolSight{readable: true, warm: true}, "warm"},
		{"nor with none, as after a change of version", claim{sandbox: "s"}, poolSight{readable: true, shadow: true}, shadow},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := poolFor(of, c.claim, c.seen); got != c.want {
				t.Errorf("want %s, got %s", c.want, got)
			}
		})
	}
}
