package views

import "testing"

func TestVendorsHaveNames(t *testing.T) {
	for v, want := range map[Vendor]string{
		{Kind: "http"}:                              "HTTP vendor",
		{Kind: "fcm"}:                               "FCM",
		{Kind: "apns", Environment: "sandbox"}:      "APNs (sandbox)",
		{Kind: "apns", Environment: "production"}:   "APNs (production)",
		{Kind: "webpush", Host: "push.example.com"}: "Web Push (push.example.com)",
		{Kind: "webpush"}:                           "Web Push",
		{Kind: "palm"}:                              "palm",
		vendorOf("apns:sandbox"):                    "APNs (sandbox)",
		vendorOf("webpush"):                         "Web Push",
	} {
		if got := v.text(); got != want {
			t.Errorf("%+v: %q, want %q", v, got, want)
		}
	}
}

func TestChangesOfAnAddressAreToldInWords(t *testing.T) {
	for e, want := range map[DeviceEvent]string{
		{What: "vendor", Detail: "apns:production"}: "Another vendor; it was APNs (production)",
		{What: "keys"}: "New keys of the browser",
	} {
		if got := eventText(e); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
	for _, reason := range []string{"bad_vendor", "bad_environment", "bad_p256dh", "bad_auth", "host_unsure"} {
		if rejectText(reason) == reason {
			t.Errorf("%s has no words", reason)
		}
	}
}
