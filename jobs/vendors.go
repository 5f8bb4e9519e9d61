package jobs

import (
	"strings"

	"bongsu/jobs/push"
)

// Vendors gives the vendor of a kind as it is now: credentials may be replaced
// while the worker runs. ok is false where it is not configured.
type Vendors interface {
	For(kind push.Kind) (v push.Vendor, ok bool)
}

// Fixed are vendors that stay as they are.
type Fixed map[push.Kind]push.Vendor

// FixedTo gives the vendors by their kinds.
func FixedTo(vendors ...push.Vendor) Fixed {
	f := Fixed{}
	for _, v := range vendors {
		f[v.Kind()] = v
	}
	return f
}

// For gives the vendor of a kind.
func (f Fixed) For(kind push.Kind) (push.Vendor, bool) {
	v, ok := f[kind]
	return v, ok
}

// kindOf gives the vendor of a scope such as fcm:ios.
func kindOf(scope string) push.Kind {
	kind, _, _ := strings.Cut(scope, ":")
	return push.Kind(kind)
}

// poolOf names what the calls in a scope share: their slots and their rate. It is the
// host that they go to: FCM's platforms have one, each of Apple's servers and each of
// the browsers' push services is one.
func poolOf(scope string) string {
	if kindOf(scope) == push.KindFCM {
		return string(push.KindFCM)
	}
	return scope
}

// scheduleOf gives the retries of a scope's vendor.
func (c Config) scheduleOf(scope string) push.Schedule {
	if s, ok := c.Schedules[kindOf(scope)]; ok {
		return s
	}
	return c.Schedule
}
