package main

import (
	"fmt"
	"log/slog"
	"net/url"
)

// mask stands for what is not shown.
const mask = "xxxxx"

// A secret prints masked, whatever prints it. string(s) is the text itself.
type secret string

// String shows nothing of the text but whether there is one.
func (s secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// Format makes every verb of fmt print String.
func (s secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue makes slog write String.
func (s secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText makes encoders write String.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maskURL shows a URL's scheme, user, host and path: the rest may hold secrets.
// An empty text stays empty; one that is no URL is masked whole.
func maskURL(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || (u.Host == "" && u.Path == "") {
		return mask
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), mask)
	}
	if u.RawQuery != "" {
		u.RawQuery = mask
	}
	u.Fragment = ""
	return u.String()
}
