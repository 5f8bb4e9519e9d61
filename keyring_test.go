package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

// ring gives a keyring of FCM whose key is in a file, the stand-in that made the
// key, and what is logged.
func ring(t *testing.T) (k *keyring, sim *pushsim.Server, file string, log *bytes.Buffer) {
	t.Helper()
	sim, err := pushsim.Start(pushsim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	file = filepath.Join(t.TempDir(), "key.json")
	newKey(t, sim, file)
	c, err := loadConfig([]string{"BONGSU_FCM_KEY_FILE=" + file, "BONGSU_FCM_URL=" + sim.FCMURL()})
	if err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	k, err = newKeyring(c, limitsOf(c), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.stop)
	return k, sim, file, log
}

// newKey puts another key into the file.
func newKey(t *testing.T, sim *pushsim.Server, file string) {
	t.Helper()
	key, err := sim.NewFCMKey("shop", sim.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, k *keyring) push.Outcome {
	t.Helper()
	v, ok := k.For(push.KindFCM)
	if !ok {
		t.Fatal("FCM is not configured")
	}
	r, err := v.Send(t.Context(), push.Message{Key: "k", Title: "a", Body: "b", Address: push.Address{Kind: push.KindFCM, Token: "good"}})
	return push.ResultOf(r, err).Outcome
}

func TestKeyringTakesANewKeyFromItsFile(t *testing.T) {
	k, sim, file, log := ring(t)
	if got := send(t, k); got != push.Sent {
		t.Fatalf("with the first key: %s", got)
	}
	before := k.held[push.KindFCM].since
	k.look()
	if k.held[push.KindFCM].since != before {
		t.Error("a look at the same key replaced it")
	}
	sim.RevokeFCMKeys()
	if got := send(t, k); got != push.Settings {
		t.Fatalf("with a revoked key: %s, want settings", got)
	}
	newKey(t, sim, file)
	k.look()
	if got := send(t, k); got != push.Sent {
		t.Errorf("with the new key: %s", got)
	}
	if _, ok := k.For(push.KindAPNs); ok {
		t.Error("APNs is there and was not configured")
	}
	if text := log.String(); !strings.Contains(text, "a credential was replaced") || strings.Contains(text, "PRIVATE KEY") {
		t.Errorf("the log says %s", text)
	}
}

func TestKeyringKeepsTheKeyBeforeABadOne(t *testing.T) {
	k, _, file, log := ring(t)
	for bad, want := range map[string]string{"": "empty", "{\"hunter2\"": "", "hunter2": ""} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		k.look()
		if problem := k.held[push.KindFCM].problem; problem == "" || !strings.Contains(problem, want) || strings.Contains(problem, "hunter2") {
			t.Errorf("%q: the problem is %q", bad, problem)
		}
		if got := send(t, k); got != push.Sent {
			t.Errorf("%q: %s, want that the key before is in use", bad, got)
		}
	}
	lines := strings.Count(log.String(), "\n")
	k.look()
	if strings.Count(log.String(), "\n") != lines {
		t.Error("the same trouble was logged again")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	k.look()
	if k.held[push.KindFCM].problem == "" {
		t.Error("a file that is gone is no problem")
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("the log shows what the file held: %s", log)
	}
}

func TestKeyringFailsAtTheStartByTheSettingsName(t *testing.T) {
	c, err := loadConfig([]string{"BONGSU_FCM_KEY=hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newKeyring(c, limitsOf(c), slog.New(slog.DiscardHandler)); err == nil ||
		!strings.HasPrefix(err.Error(), "BONGSU_FCM_KEY cannot be used: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestKeyringLooksByItself(t *testing.T) {
	k, sim, file, _ := ring(t)
	k.start()
	first, _ := k.For(push.KindFCM)
	newKey(t, sim, file)
	err := poll(t.Context(), time.Minute, 20*time.Millisecond, "the new key is taken", func() (bool, error) {
		now, _ := k.For(push.KindFCM)
		return now.Credential() != first.Credential(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckTriesTheKeys(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"bongsu", "check"}, []string{"BONGSU_FCM_KEY=hunter2", "BONGSU_DATA_DIR=" + t.TempDir()},
		strings.NewReader(""), &out, t.Output())
	if err == nil || !strings.Contains(err.Error(), "BONGSU_FCM_KEY cannot be used") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(out.String()+err.Error(), "hunter2") {
		t.Error("the key is shown")
	}
}
