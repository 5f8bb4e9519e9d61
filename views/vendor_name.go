package views

import "strings"

// Vendor is whose address a device has.
type Vendor struct {
	Kind        string // http, fcm, apns or webpush
	Environment string // apns: production or sandbox
	Host        string // webpush: of the endpoint; "" once it is gone
	Platform    string // fcm: android, ios or web, where one of them is meant
}

// text names the vendor as a page does.
func (v Vendor) text() string {
	switch v.Kind {
	case "http":
		return "HTTP vendor"
	case "fcm":
		return "FCM" + inBrackets(v.Platform)
	case "apns":
		return "APNs" + inBrackets(v.Environment)
	case "webpush":
		return "Web Push" + inBrackets(v.Host)
	default:
		return v.Kind
	}
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// vendorOf reads a vendor as a history names it, such as fcm or apns:sandbox.
func vendorOf(s string) Vendor {
	kind, environment, _ := strings.Cut(s, ":")
	return Vendor{Kind: kind, Environment: environment}
}
