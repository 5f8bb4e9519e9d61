package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
	pushhttp "bongsu/jobs/push/http"
	pushweb "bongsu/jobs/push/webpush"
)

// A keyring holds the vendors that are configured, each with the credential that
// holds now. Those that come from files are read again when a file changes, so
// that a new key needs no restart. Where the new one cannot be used the one before
// stays, and what is wrong is told.
type keyring struct {
	config Config
	make   map[push.Kind]maker
	log    *slog.Logger

	mu   sync.Mutex
	held map[push.Kind]*heldVendor

	quit chan struct{}
	done sync.WaitGroup
}

// heldVendor is a vendor and where its credential stands.
type heldVendor struct {
	vendor  push.Vendor
	since   time.Time // the credential is in use
	problem string    // why the file's newest content is not in use; empty: it is
	sum     [sha256.Size]byte
}

// maker makes a vendor of what the settings say.
type maker struct {
	setting string // the secret that it is made with
	make    func(Config) (push.Vendor, error)
}

// vendorMakers has the vendors that c configures.
func vendorMakers(c Config, l Limits) map[push.Kind]maker {
	all := map[push.Kind]maker{}
	if c.VendorURL != "" {
		all[push.KindHTTP] = maker{"BONGSU_VENDOR_TOKEN", func(c Config) (push.Vendor, error) {
			return pushhttp.New(pushhttp.Config{URL: c.VendorURL, Token: string(c.VendorToken), Timeout: l.VendorCall, MaxInFlight: c.MaxInFlight})
		}}
	}
	if c.FCM.Key != "" {
		all[push.KindFCM] = maker{"BONGSU_FCM_KEY", func(c Config) (push.Vendor, error) {
			return pushfcm.New(pushfcm.Config{Key: []byte(c.FCM.Key), URL: c.FCM.URL, Timeout: l.VendorCall, MaxInFlight: c.MaxInFlight})
		}}
	}
	if c.WebPush.Key != "" {
		all[push.KindWebPush] = maker{"BONGSU_WEBPUSH_KEY", func(c Config) (push.Vendor, error) {
			return pushweb.New(pushweb.Config{Key: []byte(c.WebPush.Key), Subject: c.WebPush.Subject, Hosts: c.WebPush.hosts(),
				AllowPrivate: c.WebPush.Private, Timeout: l.VendorCall, MaxInFlight: c.MaxInFlight})
		}}
	}
	return all
}

// newKeyring makes all vendors. It fails where one cannot be made; the error names
// the setting.
func newKeyring(c Config, l Limits, log *slog.Logger) (*keyring, error) {
	k := &keyring{config: c, make: vendorMakers(c, l), log: log, held: map[push.Kind]*heldVendor{}, quit: make(chan struct{})}
	var problems []error
	for _, kind := range slices.Sorted(maps.Keys(k.make)) {
		m := k.make[kind]
		v, err := m.make(c)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s cannot be used: %w", m.setting, err))
			continue
		}
		k.held[kind] = &heldVendor{vendor: v, since: time.Now(), sum: sha256.Sum256([]byte(secretOf(c, m.setting)))}
	}
	return k, errors.Join(problems...)
}

// For gives the vendor of a kind as it is now; false where it is not configured.
func (k *keyring) For(kind push.Kind) (push.Vendor, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, ok := k.held[kind]
	if !ok {
		return nil, false
	}
	return h.vendor, true
}

// start begins to look at the files, where there are any.
func (k *keyring) start() {
	if len(k.config.Files) == 0 {
		return
	}
	k.done.Go(func() {
		tick := time.NewTicker(keyLook)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				k.look()
			case <-k.quit:
				return
			}
		}
	})
}

// stop ends the looks and the connections that no call uses.
func (k *keyring) stop() {
	close(k.quit)
	k.done.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.held {
		closeVendor(h.vendor)
	}
}

// look reads the files again and takes what has changed.
func (k *keyring) look() {
	for kind, m := range k.make {
		file, ok := k.config.Files[m.setting]
		if !ok {
			continue
		}
		text, err := readKey(file)
		if err == nil {
			err = k.take(kind, m, text)
		}
		k.note(kind, m, err)
	}
}

// readKey reads a key's file. One that is empty is being written.
func readKey(file string) (string, error) {
	b, err := os.ReadFile(file)
	text := strings.TrimSpace(string(b))
	if err == nil && text == "" {
		err = errors.New("it is empty")
	}
	return text, err
}

// take makes a vendor of another key and puts it in the place of the one before.
func (k *keyring) take(kind push.Kind, m maker, text string) error {
	sum := sha256.Sum256([]byte(text))
	k.mu.Lock()
	same := k.held[kind].sum == sum
	k.mu.Unlock()
	if same {
		return nil
	}
	c := k.config
	if err := setSecret(&c, m.setting, text); err != nil {
		return err
	}
	v, err := m.make(c)
	if err != nil {
		return err
	}
	k.mu.Lock()
	before := k.held[kind].vendor
	k.held[kind] = &heldVendor{vendor: v, since: time.Now(), sum: sum}
	k.mu.Unlock()
	closeVendor(before)
	k.log.Info("a credential was replaced", "vendor", kind, "setting", m.setting, "fingerprint", v.Credential().Fingerprint)
	return nil
}

// note keeps what is wrong with a file, and logs it once.
func (k *keyring) note(kind push.Kind, m maker, err error) {
	var problem string
	if err != nil {
		problem = err.Error()
	}
	k.mu.Lock()
	h := k.held[kind]
	changed := h.problem != problem
	h.problem = problem
	k.mu.Unlock()
	if changed && err != nil {
		k.log.Error("a credential's file cannot be used; the one before is still in use", "vendor", kind, "setting", m.setting, "error", err)
	}
}

// closeVendor ends the connections that no call uses, where v has any.
func closeVendor(v push.Vendor) {
	switch v := v.(type) {
	case io.Closer:
		_ = v.Close()
	case interface{ Close() }:
		v.Close()
	}
}

// setSecret sets one secret of c, checked as at the start.
func setSecret(c *Config, name, text string) error {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
	return settings[i].set(c, text)
}

// secretOf gives the text of one secret.
func secretOf(c Config, name string) string {
	return map[string]string{
		"BONGSU_VENDOR_TOKEN": string(c.VendorToken), "BONGSU_FCM_KEY": string(c.FCM.Key),
		"BONGSU_WEBPUSH_KEY": string(c.WebPush.Key),
	}[name]
}
