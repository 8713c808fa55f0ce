package framework

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	kjson "sigs.k8s.io/json"
)

// TolerantListWatch lists and watches as a generated client does, for an
// ordinary shared informer, except that it decodes each object by itself. One
// that does not fit its type hides no other: a stub takes its place, an
// object with nothing but its type and metadata.
//
// decoded is told of each object listed, added or modified: with nil if it
// decoded, else with its stub and an error that names the object and the
// field. Where not even the metadata can be read the object is left out, and
// decoded gets no object. It is called on the way into the cache, before the
// object can be read there: what it says holds for that resourceVersion of
// the object, and raw only until it returns. A deletion is not told.
func TolerantListWatch[T Object](client rest.Interface, namespace, resource string,
	decoded func(obj T, raw []byte, err error)) cache.ListerWatcher {
	d := itemDecoder[T]{decoded: decoded}
	request := func(options metav1.ListOptions) *rest.Request {
		var timeout time.Duration
		if options.TimeoutSeconds != nil {
			timeout = time.Duration(*options.TimeoutSeconds) * time.Second
		}
		return client.Get().SetHeader("Accept", runtime.ContentTypeJSON).
			NamespaceIfScoped(namespace, namespace != "").Resource(resource).
			VersionedParams(&options, metav1.ParameterCodec).Timeout(timeout)
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			result := request(options).Do(ctx)
			if err := result.Error(); err != nil {
				return nil, err
			}
			raw, _ := result.Raw()
			return d.list(raw)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.Watch = true
			body, err := request(options).Stream(ctx)
			if err != nil {
				return nil, err
			}
			return watch.NewStreamWatcherWithLogger(klog.FromContext(ctx),
				&eventDecoder[T]{itemDecoder: d, body: body, events: json.NewDecoder(body)},
				apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")), nil
		},
	}, client)
}

// itemDecoder decodes objects one by one.
type itemDecoder[T Object] struct {
	decoded func(obj T, raw []byte, err error)
}

func (d itemDecoder[T]) list(raw []byte) (runtime.Object, error) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		metav1.ListMeta `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &list); err != nil {
		return nil, fmt.Errorf("decoding a list: %w", err)
	}
	out := &metainternal.List{TypeMeta: list.TypeMeta, ListMeta: list.ListMeta, Items: make([]runtime.Object, 0, len(list.Items))}
	for _, item := range list.Items {
		obj, known, err := d.decode(item)
		d.decoded(obj, item, err)
		if known {
			out.Items = append(out.Items, obj)
		}
	}
	return out, nil
}

// decode returns an object or its stub, and whether there is one.
func (d itemDecoder[T]) decode(raw []byte) (obj T, known bool, err error) {
	obj = newObject[T]()
	err = kjson.UnmarshalCaseSensitivePreserveInts(raw, obj)
	if err == nil && obj.GetName() != "" {
		return obj, true, nil
	}
	stub, stubErr := d.stub(raw)
	if stubErr != nil || stub.GetName() == "" {
		var none T
		return none, false, fmt.Errorf("decoding an object that does not say which it is: %w", cmp.Or(err, errNameless))
	}
	var whole any
	_ = kjson.UnmarshalCaseSensitivePreserveInts(raw, &whole)
	field := badField(whole, func(part any) bool {
		bare, err := json.Marshal(part)
		return err != nil || kjson.UnmarshalCaseSensitivePreserveInts(bare, newObject[T]()) == nil
	})
	return stub, true, fmt.Errorf("decoding %s %s/%s, field %s: %w", stub.GetObjectKind().GroupVersionKind().Kind,
		stub.GetNamespace(), stub.GetName(), field, err)
}

// stub decodes type and metadata alone.
func (d itemDecoder[T]) stub(raw []byte) (T, error) {
	obj := newObject[T]()
	var partial metav1.PartialObjectMetadata
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &partial); err != nil {
		return obj, fmt.Errorf("decoding metadata: %w", err)
	}
	partial.ManagedFields = nil
	bare, err := json.Marshal(partial)
	if err != nil {
		return obj, fmt.Errorf("writing metadata: %w", err)
	}
	return obj, kjson.UnmarshalCaseSensitivePreserveInts(bare, obj)
}

// errNameless is what is wrong with an object without a name.
var errNameless = errors.New("it has no name")

// maxSearched is how many members or elements are tried one by one for the
// one that does not decode: it is done on the way into the cache.
const maxSearched = 1000

// badField finds the path to what does not decode: a member that does not
// decode when it is alone, then a part of it, and so on. The decoder's own
// error has no path where a type decodes itself.
func badField(value any, decodes func(any) bool) string {
	switch value := value.(type) {
	case map[string]any:
		if len(value) > maxSearched {
			return ""
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			alone := func(member any) bool { return decodes(map[string]any{key: member}) }
			if decodes(map[string]any{}) && !alone(value[key]) {
				return "." + key + badField(value[key], alone)
			}
		}
	case []any:
		if len(value) > maxSearched {
			return ""
		}
		for i, element := range value {
			alone := func(element any) bool { return decodes([]any{element}) }
			if decodes([]any{}) && !alone(element) {
				return "[" + strconv.Itoa(i) + "]" + badField(element, alone)
			}
		}
	}
	return ""
}

// eventDecoder decodes a stream of watch events.
type eventDecoder[T Object] struct {
	itemDecoder[T]
	body   io.ReadCloser
	events *json.Decoder
}

// Decode returns the next event. An error from the server comes as the status
// that it is, a bookmark as an object with its metadata.
func (d *eventDecoder[T]) Decode() (watch.EventType, runtime.Object, error) {
	for {
		var event metav1.WatchEvent
		if err := d.events.Decode(&event); err != nil {
			return "", nil, err
		}
		switch kind, raw := watch.EventType(event.Type), event.Object.Raw; kind {
		case watch.Added, watch.Modified:
			obj, known, err := d.decode(raw)
			d.decoded(obj, raw, err)
			if known {
				return kind, obj, nil
			}
		case watch.Deleted:
			if obj, known, _ := d.decode(raw); known {
				return kind, obj, nil
			}
		case watch.Bookmark:
			obj, err := d.stub(raw)
			return kind, obj, err
		case watch.Error:
			status := &metav1.Status{}
			if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, status); err != nil {
				return "", nil, fmt.Errorf("decoding a watch error: %w", err)
			}
			return kind, status, nil
		default:
			return "", nil, fmt.Errorf("unknown type of watch event: %q", event.Type)
		}
	}
}

// Close ends the stream.
func (d *eventDecoder[T]) Close() { _ = d.body.Close() }
