package views

import "bongsu/views/ui"

type layoutText struct {
	Product, Skip, Nav, SignOut, Footer, Dismiss             string
	Imports                                                  string
	UploadCut, UploadStalled                                 string
	Notices, Compose, Devices, Archive, Queues, Status       string
	People, Tokens, Audit, Settings                          string
	Timeout, Lost, Foreign, NoAnswer, Stale, Count           string
	BadgeOf, HowToGoOn                                       string
	LinkHere, CopyLink, Copied, CopyByHand                   string
	Resume, Agree, NextProbe, VendorSays, Waiting, KeepAgree string
}

func layoutWords() layoutText {
	return layoutText{
		Product: "Bongsu", Skip: "Skip to the content", Nav: "Main", SignOut: "Sign out", Dismiss: "Close",
		Footer:  "Bongsu sends each notice once to each device, and keeps what happened.",
		Notices: "Notices", Compose: "New notice", Imports: "Imports", Devices: "Devices", Archive: "Archive", Queues: "Queues", Status: "Status",
		People: "People", Tokens: "Tokens", Audit: "Log", Settings: "Settings",

		Timeout:       "No answer came within 15 seconds, so it is not known whether this was done. Press again: it is safe. If it was done already, you will be shown the original, and nothing is done twice.",
		Lost:          "The connection broke before an answer came. Check your network and press again: it is safe. If it was done already, nothing is done twice.",
		Foreign:       "Something between you and Bongsu answered instead of it (status {status}), so it is not known whether this was done. Press again: it is safe, and nothing is done twice.",
		NoAnswer:      "no answer",
		Stale:         "These numbers are from {time}. The last look did not succeed ({status}); the page tries again by itself.",
		UploadCut:     "The connection broke before the whole file was there, so nothing was stored. Send the same file again.",
		UploadStalled: "The file stopped moving for a minute, so it was given up and nothing was stored. Check your network and send the same file again.",
		Count:         "{chars} of {limit} characters, {bytes} bytes",

		LinkHere: "Link to this view", CopyLink: "Copy link", Copied: "The link is copied.",
		CopyByHand: "The browser does not let the page copy. The link is selected: copy it from the field.",

		BadgeOf: "Status: ", HowToGoOn: "What to do, step by step",

		Resume: "Try now", Agree: "The refusals are right", NextProbe: "The next try is at",
		VendorSays: "The vendor says:", Waiting: "waiting, none is lost and none is charged.",
		KeepAgree: "More than a fifth of the last 1,000 first attempts were answered by 410. That usually disables a device; so many are more likely a mistake, so none is disabled now. If they really are gone, press The refusals are right: the next 410 of each disables it again. If not, mend the setting and replay from the archive.",
	}
}

// pausedTitle says what it is that has lasted since a time.
func pausedTitle(reason string) string {
	switch reason {
	case "":
		return "Devices that the vendor calls gone have been kept since"
	case "backlog":
		return "The vendor has been out of order since"
	}
	return "Calls to the vendor have been paused since"
}

// pausedWhat says what the reason means at a vendor of this kind, and what to do.
func pausedWhat(reason, kind string) string {
	switch reason {
	case "":
		return ""
	case "credentials_refused":
		if key := keySettings[kind]; key != "" {
			return "The vendor refuses our credentials. Nobody is charged and no device is disabled. Put the right key into the file that " + key +
				"_FILE names: the workers read it again within seconds, try it, and go on by themselves. If the key is right and the trouble was elsewhere, press Try now."
		}
		return "The vendor refuses our credentials or redirects us. Check BONGSU_VENDOR_URL and BONGSU_VENDOR_TOKEN. A token that comes from a file is read again when the file changes, and tried by itself; otherwise restart with the right ones, then press Try now."
	case "not_configured":
		return "There are devices at this vendor, and its settings are missing. Set them (" + settingsOf(kind) + ") and start the workers again: what waits is sent then."
	case "backlog":
		return "The vendor answers with failures only. One call every two seconds tries whether it is back; sending goes on by itself then. Press Try now to try at once."
	case "refusals":
		return "The vendor refuses more than half of the devices for good. That is more likely a wrong setting of ours than the devices. Look at the reasons in the archive. If a setting was wrong, mend it, restart the workers and press Try now. If the refusals are right, press The refusals are right: the notices there are now go on to their end."
	default:
		return "Look at the Status page, mend the cause, then press Try now."
	}
}

// keySettings are the settings of vendors whose keys are read again when they change.
var keySettings = map[string]string{"fcm": "BONGSU_FCM_KEY", "webpush": "BONGSU_WEBPUSH_KEY"}

// settingsOf names what is to be set for a vendor.
func settingsOf(kind string) string {
	switch kind {
	case "http":
		return "BONGSU_VENDOR_URL and BONGSU_VENDOR_TOKEN"
	case "fcm":
		return "BONGSU_FCM_KEY_FILE"
	case "webpush":
		return "BONGSU_WEBPUSH_KEY_FILE and BONGSU_WEBPUSH_SUBJECT"
	}
	return "this version of Bongsu has none for it: register these devices at another vendor"
}

func waitingText(n int64) string {
	return ui.Of(n, "delivery is", "deliveries are") + " " + layoutWords().Waiting
}
