package db

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a device's parts, and of one list of devices.
const (
	MaxDevices      = 10_000
	MaxToken        = 4096 // bytes
	MaxUser         = 255  // characters
	MaxInstallation = 255  // characters
	MaxDeviceTags   = 50
	MaxTagLength    = 64 // characters
)

// DeviceInput is what an app or a list says about a device. A nil field is
// absent: what is stored stays.
type DeviceInput struct {
	Token        string  // the address at the vendor; names the device
	Vendor       *string // http, fcm, apns or webpush, and then the next three as it wants them
	Environment  *string // apns: production or sandbox
	P256dh       *string // webpush: the browser's public key, base64
	Auth         *string // webpush: the browser's secret, base64
	Platform     string  // android, ios or web
	User         *string // "" takes the person's link away
	Tags         *[]string
	Consent      *bool
	Installation *string // names the app on one phone, whatever its token is
}

// checkDevices gives the inputs in their normal form, or an *InvalidError that
// names each wrong field, such as devices[3].token.
func checkDevices(in []DeviceInput) ([]DeviceInput, error) {
	if len(in) > MaxDevices {
		return nil, Invalid("devices", "holds %d devices: send at most %d at once", len(in), MaxDevices)
	}
	var bad []FieldError
	out := make([]DeviceInput, len(in))
	for i, d := range in {
		out[i] = d.normal()
		bad = append(bad, faultsOf(i, out[i].faults())...)
	}
	return out, invalidIf(bad)
}

// faultsOf names the fields at fault as those of input i of a list.
func faultsOf(i int, faults []FieldError) []FieldError {
	for n := range faults {
		faults[n].Field = fmt.Sprintf("devices[%d].%s", i, faults[n].Field)
	}
	return faults
}

// normal gives d with user and tags in NFC, each tag once, in order, and keys in
// one spelling.
func (d DeviceInput) normal() DeviceInput {
	d.P256dh, d.Auth = normalKey(d.P256dh), normalKey(d.Auth)
	if d.User != nil {
		user := normal(*d.User)
		d.User = &user
	}
	if d.Tags != nil {
		tags := make([]string, len(*d.Tags))
		for i, t := range *d.Tags {
			tags[i] = normal(t)
		}
		slices.Sort(tags)
		tags = slices.Compact(tags)
		d.Tags = &tags
	}
	return d
}

// faults says what is wrong with d, which is in its normal form.
func (d DeviceInput) faults() (bad []FieldError) {
	say := func(field, format string, args ...any) {
		bad = append(bad, FieldError{field, fmt.Sprintf(format, args...)})
	}
	switch {
	case d.Token == "":
		say("token", "is missing")
	case len(d.Token) > MaxToken:
		say("token", "has %d bytes: at most %d", len(d.Token), MaxToken)
	case !utf8.ValidString(d.Token) || strings.ContainsFunc(d.Token, notInToken):
		say("token", "may hold printable characters only, and no space")
	}
	if d.Platform != "android" && d.Platform != "ios" && d.Platform != "web" {
		say("platform", "must be android, ios or web")
	}
	bad = append(bad, d.addressFaults()...)
	if d.User != nil && (utf8.RuneCountInString(*d.User) > MaxUser || !plain(*d.User)) {
		say("user", "must be one line of at most %d characters", MaxUser)
	}
	if s := d.Installation; s != nil && (*s == "" || utf8.RuneCountInString(*s) > MaxInstallation || !plain(*s)) {
		say("installation", "must be one line of 1 to %d characters; leave it out if there is none", MaxInstallation)
	}
	if d.Tags != nil {
		if len(*d.Tags) > MaxDeviceTags {
			say("tags", "holds %d tags: at most %d", len(*d.Tags), MaxDeviceTags)
		}
		if i := slices.IndexFunc(*d.Tags, notTag); i >= 0 {
			say("tags", "holds %q: a tag is 1 to %d letters, digits or any of . _ - :", (*d.Tags)[i], MaxTagLength)
		}
	}
	return bad
}

func notInToken(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }

// notTag says whether t cannot be a tag. Marks belong to the letters before them
// in many scripts.
func notTag(t string) bool {
	return t == "" || !utf8.ValidString(t) || utf8.RuneCountInString(t) > MaxTagLength ||
		strings.ContainsFunc(t, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-:", r)
		})
}
