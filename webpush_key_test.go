package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pushweb "bongsu/jobs/push/webpush"
)

func TestWebPushKeyIsMadeOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vapid.pem")
	make := func() (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), []string{"bongsu", "webpush-key", "--out", file}, nil, strings.NewReader(""), &out, t.Output())
		return strings.TrimSpace(out.String()), err
	}
	public, err := make()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v; want it readable by its owner alone", info, err)
	}
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := pushweb.New(pushweb.Config{Key: key, Subject: "mailto:you@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if v.PublicKey() != public {
		t.Errorf("printed %s, the file's public key is %s", public, v.PublicKey())
	}
	if _, err := make(); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("the second time: %v", err)
	}
	if again, _ := os.ReadFile(file); !bytes.Equal(key, again) {
		t.Error("the second time wrote over the first key")
	}
}

func TestEndpointRule(t *testing.T) {
	c, err := loadConfig([]string{"BONGSU_WEBPUSH_HOSTS=push.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	rule, err := endpointRule(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range []string{"https://127.0.0.1/x", "https://evil.example.net/x", "http://push.example.com/x", "https://push.example.com:8443/x"} {
		if err := rule(t.Context(), endpoint); err == nil || strings.Contains(err.Error(), "pushweb") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
