package pushsim

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fcmFields has the members that FCM knows of each object, by
// https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages;
// objects that are missing here may hold anything.
var fcmFields = map[string]string{
	"":                     "message validate_only",
	"message":              "name data notification android webpush apns fcm_options token fid topic condition",
	"message.notification": "title body image",
	"message.android": "collapse_key priority ttl restricted_package_name data notification fcm_options direct_boot_ok " +
		"bandwidth_constrained_ok restricted_satellite_ok",
	"message.android.notification": "title body icon color sound tag click_action body_loc_key body_loc_args title_loc_key " +
		"title_loc_args channel_id ticker sticky event_time local_only notification_priority default_sound " +
		"default_vibrate_timings default_light_settings vibrate_timings visibility notification_count light_settings image " +
		"bypass_proxy_notification proxy",
	"message.webpush":             "headers data notification fcm_options",
	"message.webpush.fcm_options": "link analytics_label",
	"message.apns":                "headers payload fcm_options live_activity_token",
	"message.fcm_options":         "analytics_label",
}

// fcmMessage is what the stand-in needs of a request that FCM would take.
type fcmMessage struct {
	target       string // token, fid, topic or condition
	value        string
	notice       int64
	validateOnly bool
}

// fcmFault is why FCM would not: words, and the field that they are about.
type fcmFault struct {
	field, words string
	size         bool // it is too big: FCM has a code of its own for that
}

const (
	fcmMaxPayload = 4096
	fcmMaxLife    = 28 * 24 * time.Hour
)

var fcmTTL = regexp.MustCompile(`^(\d+)(\.\d{1,9})?s$`)

// readFCM reads and checks a request, in the order in which FCM does: JSON, names,
// target, data, size, times.
func readFCM(body []byte) (fcmMessage, *fcmFault) {
	var root map[string]any
	if err := json.Unmarshal(body, &root); err != nil || root == nil {
		return fcmMessage{}, &fcmFault{words: "Invalid JSON payload received."}
	}
	if f := unknownFields("", root); f != nil {
		return fcmMessage{}, f
	}
	message := object(root, "message")
	m := fcmMessage{}
	m.validateOnly, _ = root["validate_only"].(bool)
	if f := m.aim(message); f != nil {
		return m, f
	}
	for _, check := range []func(map[string]any) *fcmFault{checkStrings, checkDataNames, checkSize, checkTTL} {
		if f := check(message); f != nil {
			return m, f
		}
	}
	id, _ := object(message, "data")["notice_id"].(string)
	m.notice, _ = strconv.ParseInt(id, 10, 64) // 0 where there is none
	return m, nil
}

// unknownFields wants no member that FCM does not know.
func unknownFields(path string, o map[string]any) *fcmFault {
	known, ok := fcmFields[path]
	if !ok {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		below := strings.TrimPrefix(path+"."+name, ".")
		if !slices.Contains(strings.Fields(known), name) {
			return &fcmFault{field: path, words: fmt.Sprintf("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", name, path)}
		}
		child, isObject := o[name].(map[string]any)
		if _, wanted := fcmFields[below]; wanted && !isObject {
			return &fcmFault{field: below, words: fmt.Sprintf("Invalid value at '%s'", below)}
		}
		if f := unknownFields(below, child); f != nil {
			return f
		}
	}
	return nil
}

// aim wants exactly one target, a string.
func (m *fcmMessage) aim(message map[string]any) *fcmFault {
	for _, name := range []string{"token", "fid", "topic", "condition"} {
		v, ok := message[name]
		if !ok {
			continue
		}
		value, isString := v.(string)
		switch {
		case !isString:
			return &fcmFault{field: "message." + name, words: fmt.Sprintf("Invalid value at 'message.%s' (TYPE_STRING), %v", name, v)}
		case m.target != "":
			return &fcmFault{field: "message", words: "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '" + name + "'"}
		}
		m.target, m.value = name, value
	}
	if m.value == "" {
		return &fcmFault{field: "message", words: "Recipient of the message is not set."}
	}
	return nil
}

// checkStrings wants strings where FCM has maps of strings.
func checkStrings(message map[string]any) *fcmFault {
	for _, at := range []struct {
		path string
		o    map[string]any
	}{
		{"message.data", object(message, "data")},
		{"message.android.data", object(object(message, "android"), "data")},
		{"message.apns.headers", object(object(message, "apns"), "headers")},
		{"message.webpush.headers", object(object(message, "webpush"), "headers")},
	} {
		for i, name := range slices.Sorted(maps.Keys(at.o)) {
			if _, ok := at.o[name].(string); !ok {
				field := fmt.Sprintf("%s[%d].value", at.path, i)
				return &fcmFault{field: field, words: fmt.Sprintf("Invalid value at '%s' (TYPE_STRING), %v", field, at.o[name])}
			}
		}
	}
	return nil
}

// checkDataNames wants no name in data that FCM keeps for itself.
func checkDataNames(message map[string]any) *fcmFault {
	for name := range object(message, "data") {
		if name == "from" || name == "message_type" || strings.HasPrefix(name, "google.") || strings.HasPrefix(name, "gcm.notification.") {
			return &fcmFault{field: "message.data", words: "Invalid data payload key: " + name}
		}
	}
	return nil
}

func checkSize(message map[string]any) *fcmFault {
	size := 0
	for _, o := range []map[string]any{object(message, "data"), object(message, "notification")} {
		for name, value := range o {
			text, _ := value.(string)
			size += len(name) + len(text)
		}
	}
	if size > fcmMaxPayload {
		return &fcmFault{field: "message.data", words: "Android message is too big", size: true}
	}
	return nil
}

func checkTTL(message map[string]any) *fcmFault {
	v, ok := object(message, "android")["ttl"]
	if !ok {
		return nil
	}
	text, _ := v.(string)
	parts := fcmTTL.FindStringSubmatch(text)
	if parts == nil {
		return &fcmFault{field: "message.android.ttl", words: fmt.Sprintf("Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), %q", v)}
	}
	seconds, err := strconv.Atoi(parts[1])
	if err != nil || seconds > int(fcmMaxLife/time.Second) {
		return &fcmFault{field: "message.android.ttl", words: "Invalid ttl: it must be between 0 and 4 weeks"}
	}
	return nil
}

// object gives a member that is an object, else an empty one.
func object(o map[string]any, name string) map[string]any {
	child, _ := o[name].(map[string]any)
	return child
}
