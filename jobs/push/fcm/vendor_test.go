package pushfcm_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
)

// posted gives what each kind of message posts.
func posted(t *testing.T, messages ...push.Message) (paths []string, headers []http.Header, bodies []string) {
	t.Helper()
	url := h2c(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		paths, headers, bodies = append(paths, r.Method+" "+r.URL.Path+" "+r.Proto), append(headers, r.Header), append(bodies, string(body))
		_, _ = io.WriteString(w, `{"name":"projects/p/messages/m"}`)
	})
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, serveTokens(t, nil).url), URL: url, Timeout: 30 * time.Second})
	for _, m := range messages {
		if r, err := v.Send(t.Context(), m); err != nil || r.Outcome != push.Sent {
			t.Fatalf("got %+v and %v", r, err)
		}
	}
	return paths, headers, bodies
}

func TestWire(t *testing.T) {
	paths, headers, bodies := posted(t, message("tok"))
	if paths[0] != "POST /v1/projects/test-project/messages:send HTTP/2.0" {
		t.Errorf("%s", paths[0])
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Authorization": "Bearer " + bearer, "User-Agent": "bongsu", "Accept-Encoding": "",
	} {
		if got := headers[0].Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// The time to live is what is left of an hour.
	before, rest, _ := strings.Cut(bodies[0], `"ttl":"`)
	ttl, after, _ := strings.Cut(rest, `s"`)
	if n, err := strconv.Atoi(ttl); err != nil || n < 3500 || n > 3600 {
		t.Errorf("ttl %q", ttl)
	}
	want := `{"message":{"token":"tok","notification":{"title":"title","body":"body"},"data":{"notice_id":"7","link":"https://example.com/7"},` +
		`"android":{,"priority":"high","notification":{"tag":"7"}}}}`
	if before+after != want {
		t.Errorf("posted %s\nwant   %s", before+after, want)
	}
}

// TestPlatforms has what differs by platform and time.
func TestPlatforms(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		name   string
		change func(*push.Message)
		want   string // everything but the target, the notification and the data
	}{
		{"android for ever", func(m *push.Message) { m.ExpiresAt = time.Time{} }, `"android":{"priority":"high","notification":{"tag":"7"}}`},
		{"android over", func(m *push.Message) { m.ExpiresAt = time.Now().Add(-time.Hour) }, `"android":{"ttl":"0s","priority":"high","notification":{"tag":"7"}}`},
		{"android for years", func(m *push.Message) { m.ExpiresAt = time.Now().AddDate(9, 0, 0) },
			`"android":{"ttl":"2419200s","priority":"high","notification":{"tag":"7"}}`},
		{"android alone", func(m *push.Message) { m.CollapseID, m.ExpiresAt = "", time.Time{} }, `"android":{"priority":"high"}`},
		{"ios", func(m *push.Message) { m.Platform, m.ExpiresAt = "ios", time.Unix(4e9, 5e8) },
			`"apns":{"headers":{"apns-priority":"10","apns-expiration":"4000000000","apns-collapse-id":"7"}}`},
		{"ios over", func(m *push.Message) { m.Platform, m.ExpiresAt = "ios", time.Unix(4e8, 0) },
			`"apns":{"headers":{"apns-priority":"10","apns-expiration":"0","apns-collapse-id":"7"}}`},
		{"ios for ever", func(m *push.Message) { m.Platform, m.ExpiresAt, m.CollapseID = "ios", time.Time{}, long },
			`"apns":{"headers":{"apns-priority":"10"}}`},
		{"web", func(m *push.Message) { m.Platform, m.ExpiresAt = "web", time.Now().AddDate(9, 0, 0) },
			`"webpush":{"headers":{"Urgency":"high","TTL":"2419200","Topic":"7"},"notification":{"tag":"7"},"fcm_options":{"link":"https://example.com/7"}}`},
		{"web without a topic", func(m *push.Message) {
			m.Platform, m.ExpiresAt, m.CollapseID = "web", time.Now().Add(-time.Hour), "a b"
		}, `"webpush":{"headers":{"Urgency":"high","TTL":"0"},"notification":{"tag":"a b"},"fcm_options":{"link":"https://example.com/7"}}`},
		{"web with too long a topic", func(m *push.Message) { m.Platform, m.ExpiresAt, m.CollapseID = "web", time.Time{}, long },
			`"webpush":{"headers":{"Urgency":"high"},"notification":{"tag":"` + long + `"},"fcm_options":{"link":"https://example.com/7"}}`},
	} {
		m := message("tok")
		c.change(&m)
		_, _, bodies := posted(t, m)
		_, got, _ := strings.Cut(bodies[0], `"},`+`"`+strings.SplitN(c.want, `"`, 3)[1]+`":`)
		if `"`+strings.SplitN(c.want, `"`, 3)[1]+`":`+got != c.want+"}}" {
			t.Errorf("%s: posted %s\nwant %s", c.name, bodies[0], c.want)
		}
	}
	m := message("fid:installation")
	m.Platform, m.Link = "web", "http://example.com/"
	_, _, bodies := posted(t, m)
	if strings.Contains(bodies[0], "fcm_options") || !strings.Contains(bodies[0], `{"fid":"installation","notification"`) || strings.Contains(bodies[0], `"token"`) {
		t.Errorf("posted %s, want an installation id, and no page to open that is not https", bodies[0])
	}
}

// TestWeigh counts what reaches the app, whatever the platform.
func TestWeigh(t *testing.T) {
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, "")})
	m := push.Message{NoticeID: 12, Title: "a<\"", Body: "점검", Link: "/"}
	want := len(`{"notification":{"title":"a<\"","body":"점검"},"data":{"notice_id":"12","link":"/"}}`)
	for _, platform := range []string{"android", "ios", "web"} {
		m.Platform = platform
		if got := v.Weigh(m); got != (push.Weight{Bytes: want, Max: 4096}) {
			t.Errorf("got %+v, want %d of 4096", got, want)
		}
	}
}

func TestCredential(t *testing.T) {
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, "")})
	same := newVendor(t, pushfcm.Config{Key: append([]byte("\n"), keyFor(t, "", [2]string{"client_email", "other@example.com"})...)})
	c := v.Credential()
	if v.Kind() != push.KindFCM || c.Scope != project || len(c.Fingerprint) != 12 || same.Credential() != c {
		t.Errorf("got %+v and %+v", c, same.Credential())
	}
}

func TestNewRefuses(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	otherKind := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	key := func(name, value string) pushfcm.Config {
		return pushfcm.Config{Key: keyFor(t, "", [2]string{name, value})}
	}
	for name, c := range map[string]struct {
		config pushfcm.Config
		says   string
	}{
		"no key":              {pushfcm.Config{}, "JSON"},
		"a key that is text":  {pushfcm.Config{Key: []byte("hidden")}, "JSON"},
		"an app's file":       {pushfcm.Config{Key: []byte(`{"project_info":{"project_id":"hidden"}}`)}, "google-services.json"},
		"no project":          {key("project_id", ""), "project_id"},
		"no account":          {key("client_email", ""), "client_email"},
		"no private key":      {key("private_key", ""), "private_key"},
		"project with a path": {key("project_id", "hidden/../x"), "project_id"},
		"key that is no PEM":  {key("private_key", "hidden"), "PEM"},
		"key that is damaged": {key("private_key", "-----BEGIN PRIVATE KEY-----\naGlkZGVu\n-----END PRIVATE KEY-----\n"), "RSA"},
		"key of another kind": {key("private_key", otherKind), "RSA"},
		"plain token_uri":     {key("token_uri", "http://hidden.example/token"), "token_uri"},
		"token_uri of a file": {key("token_uri", "file:///hidden"), "token_uri"},
		"no host":             {pushfcm.Config{Key: keyFor(t, ""), URL: "https://"}, "host"},
		"other scheme":        {pushfcm.Config{Key: keyFor(t, ""), URL: "ftp://hidden.example/"}, "http"},
		"password":            {pushfcm.Config{Key: keyFor(t, ""), URL: "https://user:hidden@example.com/"}, "user"},
		"query":               {pushfcm.Config{Key: keyFor(t, ""), URL: "https://example.com/?key=hidden"}, "query"},
		"bad escape":          {pushfcm.Config{Key: keyFor(t, ""), URL: "https://example.com/hidden%zz"}, "URL"},
		"negative timeout":    {pushfcm.Config{Key: keyFor(t, ""), Timeout: -1}, "negative"},
		"negative in flight":  {pushfcm.Config{Key: keyFor(t, ""), MaxInFlight: -1}, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pushfcm.New(c.config)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("got %v, want words about %s that tell nothing", err, c.says)
			}
		})
	}
}

// TestNothingSecretIsTold: FCM may repeat the address and the access token.
func TestNothingSecretIsTold(t *testing.T) {
	url := h2c(t, func(w http.ResponseWriter, r *http.Request) {
		var said struct{ Message struct{ Token, FID string } }
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
			t.Error(err)
		}
		all := r.Header.Get("Authorization") + " " + said.Message.Token + said.Message.FID
		w.WriteHeader(400)
		_, _ = io.WriteString(w, failure(400, all, all, fcmError(all), badRequest(all), apnsError(400, all)))
	})
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, serveTokens(t, nil).url), URL: url, Timeout: 30 * time.Second})
	for _, token := range []string{"secret-address", "fid:secret-address"} {
		r, err := v.Send(t.Context(), message(token))
		kept := r.Code + r.Message + r.MessageID
		if err != nil || strings.Contains(kept, "secret-address") || strings.Contains(kept, bearer) || !strings.Contains(kept, "[address]") {
			t.Errorf("got %+v and %v", r, err)
		}
	}
}
