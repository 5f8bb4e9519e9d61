package pushfcm

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"bongsu/jobs/push"
)

const (
	maxPayload = 4096                // bytes of what the app gets
	maxLife    = 28 * 24 * time.Hour // the longest that FCM keeps a message
	fidPrefix  = "fid:"              // marks an address as an installation id
	maxTopic   = 32                  // RFC 8030: a Topic's length
	maxAPNsID  = 64                  // bytes of apns-collapse-id
)

// request is the body of messages:send, by
// https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
type request struct {
	ValidateOnly bool     `json:"validate_only,omitempty"`
	Message      envelope `json:"message"`
}

type envelope struct {
	Token string `json:"token,omitempty"`
	FID   string `json:"fid,omitempty"`
	Topic string `json:"topic,omitempty"`
	payload
	Android *android `json:"android,omitempty"`
	APNs    *apns    `json:"apns,omitempty"`
	WebPush *webPush `json:"webpush,omitempty"`
}

// payload is what reaches the app, and what FCM's limit of bytes is about.
type payload struct {
	Notification notification `json:"notification"`
	Data         *data        `json:"data,omitempty"`
}

type notification struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// data is for the app. FCM takes strings only.
type data struct {
	NoticeID string `json:"notice_id"`
	Link     string `json:"link,omitempty"`
}

type android struct {
	TTL          string `json:"ttl,omitempty"`
	Priority     string `json:"priority"`
	Notification *tag   `json:"notification,omitempty"`
}

// tag is what a shown notification is replaced by.
type tag struct {
	Tag string `json:"tag"`
}

type apns struct {
	Headers apnsHeaders `json:"headers"`
}

type apnsHeaders struct {
	Priority   string `json:"apns-priority"`
	Expiration string `json:"apns-expiration,omitempty"`
	CollapseID string `json:"apns-collapse-id,omitempty"`
}

type webPush struct {
	Headers      webHeaders `json:"headers"`
	Notification *tag       `json:"notification,omitempty"`
	Options      *webLink   `json:"fcm_options,omitempty"`
}

type webHeaders struct {
	Urgency string `json:"Urgency"`
	TTL     string `json:"TTL,omitempty"`
	Topic   string `json:"Topic,omitempty"`
}

type webLink struct {
	Link string `json:"link"`
}

// encode writes a message as FCM reads it.
func encode(m *push.Message, now time.Time) []byte {
	e := envelope{payload: payloadOf(m)}
	if fid, ok := strings.CutPrefix(m.Token, fidPrefix); ok {
		e.FID = fid
	} else {
		e.Token = m.Token
	}
	switch m.Platform {
	case "ios":
		e.APNs = &apns{apnsOf(m, now)}
	case "web":
		e.WebPush = webPushOf(m, now)
	default:
		e.Android = &android{TTL: seconds(m, now, "s"), Priority: "high", Notification: tagOf(m)}
	}
	return marshal(request{Message: e})
}

func payloadOf(m *push.Message) payload {
	return payload{
		Notification: notification{m.Title, m.Body},
		Data:         &data{NoticeID: strconv.FormatInt(m.NoticeID, 10), Link: m.Link},
	}
}

// apnsOf is for FCM's way through Apple. An expiration of 0 is one try.
func apnsOf(m *push.Message, now time.Time) apnsHeaders {
	h := apnsHeaders{Priority: "10"}
	if len(m.CollapseID) <= maxAPNsID {
		h.CollapseID = m.CollapseID
	}
	switch {
	case m.ExpiresAt.IsZero():
	case m.ExpiresAt.After(now):
		h.Expiration = strconv.FormatInt(m.ExpiresAt.Unix(), 10)
	default:
		h.Expiration = "0"
	}
	return h
}

// webPushOf is for FCM's way through the browsers' services. A link goes along
// as the page that a click opens where it is https: FCM refuses others there.
func webPushOf(m *push.Message, now time.Time) *webPush {
	w := &webPush{Headers: webHeaders{Urgency: "high", TTL: seconds(m, now, "")}, Notification: tagOf(m)}
	if isTopic(m.CollapseID) {
		w.Headers.Topic = m.CollapseID
	}
	if strings.HasPrefix(m.Link, "https://") {
		w.Options = &webLink{m.Link}
	}
	return w
}

func isTopic(s string) bool {
	return s != "" && len(s) <= maxTopic && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

func tagOf(m *push.Message) *tag {
	if m.CollapseID == "" {
		return nil
	}
	return &tag{m.CollapseID}
}

// seconds is how long the message is still of use, in whole seconds rounded
// down, between 0 and what FCM allows; nothing for one that does not expire.
func seconds(m *push.Message, now time.Time, unit string) string {
	if m.ExpiresAt.IsZero() {
		return ""
	}
	left := min(max(m.ExpiresAt.Sub(now), 0), maxLife)
	return strconv.FormatInt(int64(left/time.Second), 10) + unit
}

// marshal leaves < > & as they are: nobody reads this as HTML, and escaped they
// would weigh six times as much.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("pushfcm: " + err.Error()) // strings and booleans always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
