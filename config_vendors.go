package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bongsu/jobs/push"
	pushweb "bongsu/jobs/push/webpush"
)

// What the settings of FCM and Web Push say. A vendor is configured where
// its key is.
type (
	fcmConfig struct {
		Key         secret // a service account's key, JSON
		URL         string
		RetryDelays push.Schedule
	}
	webPushConfig struct {
		Key         secret // P-256, PEM or base64url
		Subject     string
		Hosts       []string // besides those of the browsers' makers
		Private     bool     // endpoints may be on this machine and without TLS
		RetryDelays push.Schedule
	}
)

// vendorSettings are the settings of the vendors besides the HTTP one.
var vendorSettings = slices.Concat(fcmSettings, webPushSettings)

var fcmSettings = []setting{
	{
		name: "BONGSU_FCM_KEY", secret: true,
		help: "FCM: the service account's key, the JSON file that Firebase's console gives; best as BONGSU_FCM_KEY_FILE",
		set:  func(c *Config, v string) error { c.FCM.Key = secret(v); return nil },
		get:  func(c Config) string { return orUnset(c.FCM.Key.String()) },
	},
	{
		name: "BONGSU_FCM_URL", preset: "https://fcm.googleapis.com",
		help: "where FCM is; another address is for a stand-in",
		set:  hostURL(func(c *Config) *string { return &c.FCM.URL }),
		get:  func(c Config) string { return c.FCM.URL },
	},
	delaysOf("BONGSU_FCM_RETRY_DELAYS", "10s,30s,90s", "FCM", func(c *Config) *push.Schedule { return &c.FCM.RetryDelays }),
}

var webPushSettings = []setting{
	{
		name: "BONGSU_WEBPUSH_KEY", secret: true,
		help: "Web Push: the private VAPID key that bongsu webpush-key makes; best as BONGSU_WEBPUSH_KEY_FILE",
		set:  func(c *Config, v string) error { c.WebPush.Key = secret(v); return nil },
		get:  func(c Config) string { return orUnset(c.WebPush.Key.String()) },
	},
	{
		name: "BONGSU_WEBPUSH_SUBJECT",
		help: "Web Push: where the push services reach you, as mailto:you@example.com or an https address",
		set:  func(c *Config, v string) error { c.WebPush.Subject = v; return checkSubject(v) },
		get:  func(c Config) string { return orUnset(c.WebPush.Subject) },
	},
	{
		name: "BONGSU_WEBPUSH_HOSTS",
		help: "Web Push: hosts of endpoints that are taken besides those of Google, Mozilla, Apple and Microsoft, as push.example.com,*.example.net",
		set:  func(c *Config, v string) (err error) { c.WebPush.Hosts, err = parseHosts(v); return err },
		get:  func(c Config) string { return orUnset(strings.Join(c.WebPush.Hosts, ",")) },
	},
	{
		name: "BONGSU_WEBPUSH_PRIVATE", preset: "false",
		help: "true lets endpoints be on this machine, in private networks and without TLS: for trying it out, never where others register",
		set:  func(c *Config, v string) (err error) { c.WebPush.Private, err = parseBool(v); return err },
		get:  func(c Config) string { return strconv.FormatBool(c.WebPush.Private) },
	},
	delaysOf("BONGSU_WEBPUSH_RETRY_DELAYS", "10s,30s,90s", "Web Push", func(c *Config) *push.Schedule { return &c.WebPush.RetryDelays }),
}

// hosts are those that an endpoint may be at.
func (c webPushConfig) hosts() []string { return append(pushweb.DefaultHosts(), c.Hosts...) }

func delaysOf(name, preset, vendor string, field func(*Config) *push.Schedule) setting {
	return setting{
		name: name, preset: preset,
		help: vendor + ": how long a delivery waits after each failure, separated by commas",
		set:  func(c *Config, v string) (err error) { *field(c), err = parseDelays(v); return err },
		get:  func(c Config) string { return delaysText(*field(&c)) },
	}
}

// hostURL makes a setter of the field for the URL of a host, without a path.
func hostURL(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = v
		u, err := url.Parse(v)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
			u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return errors.New("is not the URL of a host such as https://push.example.com")
		}
		return nil
	}
}

func checkSubject(v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	mail := err == nil && u.Scheme == "mailto" && strings.Contains(u.Opaque, "@") && !strings.Contains(u.Opaque, ":")
	if site := err == nil && u.Scheme == "https" && u.Host != ""; !mail && !site {
		return fmt.Errorf("is %q, neither mailto:you@example.com nor an https address; Apple refuses others", v)
	}
	return nil
}

func parseHosts(v string) (list []string, err error) {
	for host := range strings.SplitSeq(v, ",") {
		if host = strings.ToLower(strings.TrimSpace(host)); host == "" {
			continue
		}
		if bare := strings.TrimPrefix(host, "*."); bare == "" || strings.ContainsAny(bare, "/*@ ") {
			return nil, fmt.Errorf("has %q, not a host such as push.example.com or *.example.com", host)
		}
		list = append(list, host)
	}
	return list, nil
}

// checkVendors finds what is set of a vendor in part.
func (c Config) checkVendors() (problems []error) {
	type part struct{ name, value string }
	for _, parts := range [][]part{
		{{"BONGSU_WEBPUSH_KEY", string(c.WebPush.Key)}, {"BONGSU_WEBPUSH_SUBJECT", c.WebPush.Subject}},
	} {
		var set string
		for _, p := range parts {
			if p.value != "" {
				set = p.name
			}
		}
		for _, p := range parts {
			if p.value == "" && set != "" {
				problems = append(problems, fmt.Errorf("%s is not set, and goes with %s", p.name, set))
			}
		}
	}
	return problems
}

// anyVendor tells whether there is somebody to send through.
func (c Config) anyVendor() bool {
	return c.VendorURL != "" || c.FCM.Key != "" || c.WebPush.Key != ""
}

// schedules are the retries of each vendor.
func (c Config) schedules() map[push.Kind]push.Schedule {
	return map[push.Kind]push.Schedule{
		push.KindHTTP: c.RetryDelays, push.KindFCM: c.FCM.RetryDelays,
		push.KindWebPush: c.WebPush.RetryDelays,
	}
}

// endpointLook is how long the host of an endpoint may take to be looked up.
const endpointLook = 3 * time.Second

// keyLook is the time between two looks at the files of keys.
const keyLook = 2 * time.Second
