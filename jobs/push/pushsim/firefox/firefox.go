// Package firefox runs a real Firefox as the receiver of pushed messages: with a fresh
// profile, without a window, with the push service that it is told of and leave to show
// notifications. It knows nothing of the sender.
package firefox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Config says what the browser does.
type Config struct {
	Dir     string    // an empty directory for its profile and home; whoever gives it removes it
	PushURL string    // its push service, such as ws://127.0.0.1:1234/
	Page    string    // the page that it opens; a service worker wants https or localhost
	Output  io.Writer // what it says, pages' console included; nil: nowhere
}

// Browser is a running Firefox.
type Browser struct {
	cmd   *exec.Cmd
	ended chan struct{}
	once  sync.Once
}

// ErrNone says that no Firefox is installed.
var ErrNone = errors.New("firefox: none is installed (apt-get install firefox-esr)")

// Path finds the program; the error is ErrNone where there is none.
func Path() (string, error) {
	for _, name := range []string{"firefox-esr", "firefox"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", ErrNone
}

// preferences are the ones without which it would not receive, or would call its
// maker.
func preferences(c Config) map[string]any {
	return map[string]any{
		"dom.push.enabled":                           true,
		"dom.push.connection.enabled":                true,
		"dom.push.serverURL":                         c.PushURL,
		"dom.push.testing.allowInsecureServerURL":    true,
		"permissions.default.desktop-notification":   1,
		"alerts.useSystemBackend":                    false, // there is no desktop
		"devtools.console.stdout.content":            true,
		"network.manage-offline-status":              false, // a machine without a network counts as offline
		"network.captive-portal-service.enabled":     false,
		"network.connectivity-service.enabled":       false,
		"app.update.enabled":                         false,
		"app.normandy.enabled":                       false,
		"browser.safebrowsing.malware.enabled":       false,
		"browser.safebrowsing.phishing.enabled":      false,
		"browser.shell.checkDefaultBrowser":          false,
		"browser.startup.homepage_override.mstone":   "ignore",
		"browser.aboutwelcome.enabled":               false,
		"browser.sessionstore.resume_from_crash":     false,
		"datareporting.policy.dataSubmissionEnabled": false,
		"datareporting.policy.firstRunURL":           "",
		"termsofuse.bypassNotification":              true,
		"trailhead.firstrun.didSeeAboutWelcome":      true,
		"toolkit.telemetry.enabled":                  false,
		"toolkit.telemetry.server":                   "",
		"services.settings.server":                   "data:,",
		"extensions.getAddons.cache.enabled":         false,
		"extensions.systemAddon.update.enabled":      false,
	}
}

// Start runs the browser until Close.
func Start(c Config) (*Browser, error) {
	path, err := Path()
	if err != nil {
		return nil, err
	}
	profile := filepath.Join(c.Dir, "profile")
	if err := os.MkdirAll(profile, 0o700); err != nil {
		return nil, err
	}
	var prefs strings.Builder
	all := preferences(c)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value, err := json.Marshal(all[name])
		if err != nil {
			return nil, fmt.Errorf("firefox: %s: %w", name, err)
		}
		fmt.Fprintf(&prefs, "user_pref(%q, %s);\n", name, value)
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs.String()), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "--headless", "--no-remote", "--profile", profile, c.Page)
	cmd.Env = append(os.Environ(), "HOME="+c.Dir, "XDG_CACHE_HOME="+c.Dir, "XDG_CONFIG_HOME="+c.Dir, "TMPDIR="+c.Dir,
		"MOZ_HEADLESS=1", "MOZ_CRASHREPORTER_DISABLE=1", "DBUS_SESSION_BUS_ADDRESS=disabled:")
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has children
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("firefox: %w", err)
	}
	b := &Browser{cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended does not matter
		close(b.ended)
	}()
	return b, nil
}

// Ended is closed when the browser has gone, by Close or by itself.
func (b *Browser) Ended() <-chan struct{} { return b.ended }

// Close ends the browser and its children, and waits for it.
func (b *Browser) Close() {
	b.once.Do(func() {
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // it may have gone
		<-b.ended
	})
}
