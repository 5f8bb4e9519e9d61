package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bongsu/jobs/push"
)

// presetVendors fills in what the settings of vendors are where they are not set.
func presetVendors(c *Config) {
	slow := push.Schedule{10 * time.Second, 30 * time.Second, 90 * time.Second}
	c.FCM = fcmConfig{URL: "https://fcm.googleapis.com", RetryDelays: slow}
	c.WebPush = webPushConfig{RetryDelays: slow}
}

func TestConfigReadsVendors(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(key, []byte("key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := loadConfig([]string{
		"BONGSU_FCM_KEY_FILE=" + key, "BONGSU_FCM_URL=http://127.0.0.1:9", "BONGSU_FCM_RETRY_DELAYS=1s",
		"BONGSU_WEBPUSH_KEY=k", "BONGSU_WEBPUSH_SUBJECT=mailto:push@example.com", "BONGSU_WEBPUSH_HOSTS=push.example.com, *.Example.NET",
		"BONGSU_WEBPUSH_PRIVATE=true", "BONGSU_WEBPUSH_RETRY_DELAYS=3s",
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := loadConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	want.FCM = fcmConfig{Key: "key", URL: "http://127.0.0.1:9", RetryDelays: push.Schedule{time.Second}}
	want.WebPush = webPushConfig{Key: "k", Subject: "mailto:push@example.com", Hosts: []string{"push.example.com", "*.example.net"},
		Private: true, RetryDelays: push.Schedule{3 * time.Second}}
	want.Files = map[string]string{"BONGSU_FCM_KEY": key}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.anyVendor() || (Config{}).anyVendor() {
		t.Error("whether there is a vendor is not told")
	}
}

func TestConfigTellsWhatIsWrongOfVendors(t *testing.T) {
	for environ, want := range map[string]string{
		"BONGSU_FCM_URL=fcm.example.com":                  "BONGSU_FCM_URL is not the URL of a host",
		"BONGSU_FCM_URL=https://fcm.example.com/v1":       "BONGSU_FCM_URL is not the URL of a host",
		"BONGSU_WEBPUSH_KEY=hunter2":                      "BONGSU_WEBPUSH_SUBJECT is not set, and goes with BONGSU_WEBPUSH_KEY",
		"BONGSU_WEBPUSH_SUBJECT=mailto:mailto:a@b":        `BONGSU_WEBPUSH_SUBJECT is "mailto:mailto:a@b"`,
		"BONGSU_WEBPUSH_SUBJECT=you@example.com":          `BONGSU_WEBPUSH_SUBJECT is "you@example.com"`,
		"BONGSU_WEBPUSH_SUBJECT=https:///":                `BONGSU_WEBPUSH_SUBJECT is "https:///"`,
		"BONGSU_WEBPUSH_HOSTS=https://push.example.com/x": "BONGSU_WEBPUSH_HOSTS has",
		"BONGSU_WEBPUSH_HOSTS=*":                          "BONGSU_WEBPUSH_HOSTS has",
		"BONGSU_WEBPUSH_PRIVATE=yes":                      "BONGSU_WEBPUSH_PRIVATE is",
	} {
		_, err := loadConfig([]string{environ})
		if err == nil {
			t.Errorf("%s: taken", environ)
			continue
		}
		if lines := strings.Split(err.Error(), "\n"); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("%s: %v, want %s", environ, err, want)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the key: %v", environ, err)
		}
	}
}
