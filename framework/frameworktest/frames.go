package frameworktest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
)

// framing is how the events of a watch follow each other in its bytes.
type framing struct {
	// next returns the next event with all that belongs to it on the wire.
	next func() ([]byte, error)
	// kind is the type of an event.
	kind func(frame []byte) watch.EventType
	// failure is an event that says so. Nil where none can be made.
	failure func(*metav1.Status) ([]byte, error)
}

// framingOf knows the two encodings that clients of an API server use. Bytes
// in any other are passed on as they come, and no event is seen in them.
func framingOf(contentType string, body io.Reader) framing {
	switch {
	case strings.HasPrefix(contentType, runtime.ContentTypeProtobuf):
		return framing{next: protobufFrames(body), kind: protobufKind, failure: protobufFailure}
	case strings.HasPrefix(contentType, runtime.ContentTypeJSON):
		return framing{next: jsonFrames(body), kind: jsonKind, failure: jsonFailure}
	}
	return framing{next: rawFrames(body), kind: func([]byte) watch.EventType { return "" }}
}

func rawFrames(body io.Reader) func() ([]byte, error) {
	buffer := make([]byte, 64<<10)
	return func() ([]byte, error) {
		n, err := body.Read(buffer)
		return bytes.Clone(buffer[:n]), err
	}
}

func jsonFrames(body io.Reader) func() ([]byte, error) {
	decoder := json.NewDecoder(body)
	return func() ([]byte, error) {
		var event json.RawMessage
		if err := decoder.Decode(&event); err != nil {
			return nil, err
		}
		return append(event, '\n'), nil
	}
}

func jsonKind(frame []byte) watch.EventType {
	var event metav1.WatchEvent
	if err := json.Unmarshal(frame, &event); err != nil {
		return ""
	}
	return watch.EventType(event.Type)
}

func jsonFailure(status *metav1.Status) ([]byte, error) {
	object, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("writing a watch error: %w", err)
	}
	return fmt.Appendf(nil, `{"type":%q,"object":%s}`+"\n", watch.Error, object), nil
}

// protobufFrames reads events behind their length in four bytes.
func protobufFrames(body io.Reader) func() ([]byte, error) {
	return func() ([]byte, error) {
		var length [4]byte
		if _, err := io.ReadFull(body, length[:]); err != nil {
			return nil, err
		}
		frame := make([]byte, len(length)+int(binary.BigEndian.Uint32(length[:])))
		copy(frame, length[:])
		if _, err := io.ReadFull(body, frame[len(length):]); err != nil {
			return nil, err
		}
		return frame, nil
	}
}

func protobufKind(frame []byte) watch.EventType {
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame[4:]); err != nil {
		return ""
	}
	return watch.EventType(event.Type)
}

func protobufFailure(status *metav1.Status) ([]byte, error) {
	var object bytes.Buffer
	if err := protobuf.NewSerializer(nil, nil).Encode(status, &object); err != nil {
		return nil, fmt.Errorf("writing a watch error: %w", err)
	}
	event := metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: object.Bytes()}}
	raw, err := event.Marshal()
	if err != nil {
		return nil, fmt.Errorf("writing a watch error: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...), nil
}
