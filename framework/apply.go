package framework

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"polychrome.dev/controller/framework/drift"
	"polychrome.dev/controller/framework/owners"
)

// comparison is the memory of one compare of a child with a configuration.
type comparison struct {
	version string
	hash    string
	paths   []string
}

// wanted is a normalised configuration, ready to be compared and applied.
type wanted struct {
	key    Key
	fields map[string]any
	hash   string
}

// Child is what the cache shows under the name of a wanted child.
type Child[T Object] struct {
	// Object has the name, whosever it is; the zero T if there is none. It is
	// read-only.
	Object T
	// Present is set when there is one.
	Present bool
	// Ownership tells whose it is, while it is present.
	Ownership owners.Ownership
	// Drift has the JSON paths in which a child of ours differs from what is
	// wanted, nil when it is as it should be. An absent child differs in the
	// path "", one of somebody else in none.
	Drift []string
}

// Foreign reports whether an object of somebody else has the name.
func (c Child[T]) Foreign() bool { return c.Present && c.Ownership != owners.Ours }

// Look compares a generated apply configuration, as Apply would send it, with
// the cached child. The applied-hash annotation counts, so that a field no
// longer wanted is a difference.
func (r *Resource[T]) Look(owner owners.Owner, config any) (Child[T], error) {
	want, err := r.want(owner, config)
	if err != nil {
		return Child[T]{}, err
	}
	var child Child[T]
	child.Object, child.Present = r.Get(want.key.Namespace, want.key.Name)
	if !child.Present {
		child.Drift = []string{""}
		return child, nil
	}
	if child.Ownership = owners.Judge(owner, child.Object); child.Ownership == owners.Ours {
		child.Drift, err = r.compare(want, child.Object)
	}
	return child, err
}

// Apply brings the child that config names to what config says, by
// server-side apply, and only when the cached child differs. It adds the
// reference to owner, the child's controller. The first apply can only
// create, later ones only change that very child; a child of somebody else is
// never written (IsNameConflict). It returns the child as the server has it
// and whether anything was written.
func (r *Resource[T]) Apply(ctx context.Context, owner owners.Owner, config any) (T, bool, error) {
	var none T
	want, err := r.want(owner, config)
	if err != nil {
		return none, false, err
	}
	child, present := r.Get(want.key.Namespace, want.key.Name)
	paths, err := r.due(ctx, owner, want, child, present)
	if err != nil || paths == nil {
		return child, false, err
	}
	applied, err := r.patchApply(ctx, want, child, present, paths)
	if !present && r.Selector != nil && apierrors.IsConflict(err) {
		child, present, err = r.hidden(ctx, owner, want, err)
		if present {
			applied, err = r.patchApply(ctx, want, child, true, paths)
		}
	}
	if err != nil {
		return none, false, r.failed(ctx, moved(r, want.key, child, present), err)
	}
	return applied, true, r.checkApplied(ctx, want, applied)
}

// hidden looks for what stands in the way of a create and is not what the
// cache selects, so that the cache will never show it. One of ours that has
// lost its label is returned; any other is a name conflict. What the cache
// will show is left to it, as the conflict that it is.
func (r *Resource[T]) hidden(ctx context.Context, owner owners.Owner, want wanted, conflict error) (T, bool, error) {
	var none T
	live, err := r.Client.Get(ctx, want.key.Name, metav1.GetOptions{})
	switch {
	case err != nil || r.shows(live):
		return none, false, conflict
	case owners.Judge(owner, live) != owners.Ours:
		return none, false, &nameConflictError{what: r.Kind + " " + want.key.Name}
	}
	return live, true, nil
}

// due returns in which paths an apply may and must be sent, nil for none: for
// a child that is absent while its owner stands, and for one of ours that
// differs.
func (r *Resource[T]) due(ctx context.Context, owner owners.Owner, want wanted, child T, present bool) ([]string, error) {
	rec := recorderOf(ctx)
	switch {
	case !present && !rec.alive():
		return nil, &conflictError{fmt.Errorf("creating %s %s: its owner is gone", r.Kind, want.key.Name)}
	case !present:
		return []string{"created"}, nil
	case owners.Judge(owner, child) != owners.Ours:
		return nil, &nameConflictError{what: r.Kind + " " + want.key.Name}
	}
	paths, err := r.compare(want, child)
	if len(paths) > 0 && r.rejects(want, child) {
		rec.unheld = append(rec.unheld, named(r.Kind, child.GetName(), paths)...)
		return nil, nil
	}
	return paths, err
}

// named puts an object in front of paths in it.
func named(kind, name string, paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, path := range paths {
		out = append(out, kind+" "+name+": "+path)
	}
	return out
}

// want normalises a configuration: what the server would drop or respell is
// dropped and respelled here, so that applying it again changes nothing.
func (r *Resource[T]) want(owner owners.Owner, config any) (wanted, error) {
	fields, err := drift.Normalise(config, newObject[T]())
	if err != nil {
		return wanted{}, fmt.Errorf("normalising the configuration of a %s: %w", r.Kind, err)
	}
	meta, _ := fields["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	if name == "" {
		return wanted{}, fmt.Errorf("the configuration of a %s names no object", r.Kind)
	}
	references, _ := meta["ownerReferences"].([]any)
	if !slices.ContainsFunc(references, owner.IsIn) {
		meta["ownerReferences"] = append(references, owner.Fields())
	}
	hash := drift.Hash(fields)
	drift.Annotate(fields, r.names.appliedHash(), hash)
	return wanted{key: Key{Namespace: r.Namespace, Name: name}, fields: fields, hash: hash}, nil
}

// compare is remembered per child until it or the configuration changes.
func (r *Resource[T]) compare(want wanted, child T) ([]string, error) {
	if known, ok := r.compared.Load(child.GetUID()); ok {
		known := known.(comparison)
		if known.version == child.GetResourceVersion() && known.hash == want.hash {
			return known.paths, nil
		}
	}
	if bad, broken := r.brokenBy(child); broken {
		return nil, fmt.Errorf("comparing %s %s: %w", r.Kind, child.GetName(), bad.err)
	}
	have, err := drift.ToMap(child)
	if err != nil {
		return nil, fmt.Errorf("comparing %s %s: %w", r.Kind, child.GetName(), err)
	}
	found := comparison{version: child.GetResourceVersion(), hash: want.hash, paths: drift.Missing(want.fields, have)}
	r.compared.Store(child.GetUID(), found)
	return found.paths, nil
}

// patchApply sends the apply with its guard: a version that cannot match for
// a child the cache does not have, which creates or is refused, and the UID
// of the child it has, which changes that one or is refused.
func (r *Resource[T]) patchApply(ctx context.Context, want wanted, child T, present bool, paths []string) (T, error) {
	var none T
	guard, verb := map[string]any{"resourceVersion": "1"}, "creating"
	if present {
		guard, verb = map[string]any{"uid": string(child.GetUID())}, "applying"
	}
	body, err := applyBody(want.fields, r.Resource.GroupVersion().String(), r.Kind, guard)
	if err != nil {
		return none, fmt.Errorf("%s %s %s: %w", verb, r.Kind, want.key.Name, err)
	}
	force := true
	out, err := r.Client.Patch(ctx, want.key.Name, types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: r.names.FieldManager, Force: &force})
	r.count(ctx, "apply", err)
	if err != nil {
		return none, fmt.Errorf("%s %s %s: %w", verb, r.Kind, want.key.Name, err)
	}
	r.refusesFields.Store(false)
	r.noteSeen(ctx, out, paths...)
	return out, nil
}

// moved awaits that the cache shows another version than the one, or the
// none, that a write conflicted with.
func moved[T Object](r *Resource[T], key Key, shown T, present bool) note {
	n := note{kind: noteMoved, view: r, key: key}
	if present {
		n.version = shown.GetResourceVersion()
	}
	return n
}

// checkApplied compares the server's answer. One that lacks what was applied
// is not applied to again until it or the configuration changes: a mutating
// webhook would otherwise be fought for ever.
func (r *Resource[T]) checkApplied(ctx context.Context, want wanted, applied T) error {
	have, err := drift.ToMap(applied)
	if err != nil {
		return fmt.Errorf("checking the apply of %s %s: %w", r.Kind, applied.GetName(), err)
	}
	if lost := drift.Missing(want.fields, have); len(lost) > 0 {
		r.rejected.Store(applied.GetUID(), comparison{version: applied.GetResourceVersion(), hash: want.hash, paths: lost})
		rec := recorderOf(ctx)
		rec.unheld = append(rec.unheld, named(r.Kind, applied.GetName(), lost)...)
		r.log.Warn("the server did not keep what was applied; not applying it again until one of the two changes",
			"object", applied.GetName(), "paths", lost)
	}
	return nil
}

// rejects reports whether this very configuration was applied to this very
// version of the child and not kept.
func (r *Resource[T]) rejects(want wanted, child T) bool {
	known, ok := r.rejected.Load(child.GetUID())
	if !ok {
		return false
	}
	lost := known.(comparison)
	return lost.hash == want.hash && lost.version == child.GetResourceVersion()
}

func applyBody(fields map[string]any, apiVersion, kind string, guard map[string]any) ([]byte, error) {
	body := make(map[string]any, len(fields)+2)
	for key, value := range fields {
		body[key] = value
	}
	body["apiVersion"], body["kind"] = apiVersion, kind
	metadata := map[string]any{}
	if named, ok := fields["metadata"].(map[string]any); ok {
		for key, value := range named {
			metadata[key] = value
		}
	}
	for key, value := range guard {
		metadata[key] = value
	}
	body["metadata"] = metadata
	return json.Marshal(body)
}

// noteSeen makes the next pass wait for a write to be seen.
func (r *Resource[T]) noteSeen(ctx context.Context, out T, paths ...string) {
	rec := recorderOf(ctx)
	rec.wrote(out)
	rec.touch(r.Kind, out.GetName(), mark{uid: out.GetUID(), version: out.GetResourceVersion()}, paths...)
	_, cached := r.Get(out.GetNamespace(), out.GetName())
	if r.shows(out) || cached {
		rec.note(note{kind: noteSeen, view: r, key: keyOf(out), version: out.GetResourceVersion()})
	}
}

// failed turns an answer that says "not the version you saw" into a conflict
// whose note parks the key, and asks for a look at the API when it seems
// gone.
func (r *Resource[T]) failed(ctx context.Context, conflicted note, err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		r.nudge()
	}
	if skewed(err) {
		r.refusesFields.Store(true)
	}
	if classifyStatus(err) != ClassConflict {
		return err
	}
	recorderOf(ctx).note(conflicted)
	return &conflictError{cause: err}
}

// count adds a request to the pass and to the metrics.
func (r *Resource[T]) count(ctx context.Context, verb string, err error) {
	recorderOf(ctx).writes++
	answer := "ok"
	if err != nil {
		answer = string(classifyStatus(err))
	}
	r.metrics.writes.WithLabelValues(r.resourceName(), verb, answer).Inc()
}

func keyOf(obj metav1.Object) Key {
	return Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
