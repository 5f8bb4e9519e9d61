package views

import (
	"cmp"
	"strings"
)

// Devices is the search for a device: by user, by number, or by its token.
type Devices struct {
	Shell
	User, ID string // what was asked
	Notice   string // what else is asked: why it did not reach whoever is found
	NoticeAs string // its title
	Unsaid   string // why that cannot be said
	Why      []WhyLine
	Link     string // to this very view
	Asked    bool   // false: nothing was asked yet
	Wrong    string // why nothing can be shown
	Items    []DeviceRow
	NextHref string
}

// DeviceRow is one device in the results.
type DeviceRow struct {
	ID, Token, Platform, User, State string
	At                               Vendor
	Consent                          bool
	Tags                             []string
	RegisteredAt                     string
}

type devicesText struct {
	Title, User, UserFind, ID, IDFind, Token, TokenHint, TokenFind                string
	Caption, Device, Platform, State, Consent, Tags, Registered, Empty, EmptyHint string
	Vendor                                                                        string
	Yes, No, Intro, None                                                          string
}

func devicesWords() devicesText {
	return devicesText{
		Title: "Find a device", User: "User", UserFind: "Find by user", ID: "Device number", IDFind: "Find by number",
		Token: "Full token or endpoint", TokenHint: "It is looked up by its hash and appears in no address and no log.", TokenFind: "Find by token",
		Vendor:  "Vendor",
		Caption: "Devices found", Device: "Device", Platform: "Platform", State: "State", Consent: "Consent", Tags: "Tags", Registered: "Registered",
		Empty: "No device was found.", EmptyHint: "Either it never registered, or it was erased, or what was typed differs by a letter.",
		Yes: "yes", No: "no", Intro: "Any one of the three is enough.", None: "–",
	}
}

func yesNo(b bool) string {
	if b {
		return devicesWords().Yes
	}
	return devicesWords().No
}

// Device is the page of one device with its history.
type Device struct {
	Shell
	ID, Token, Platform, User, Installation string // Token is masked
	At                                      Vendor
	Consent                                 bool
	State                                   string // active, disabled or erased
	StateReason, StateAt                    string
	Tags                                    []string
	CreatedAt, RegisteredAt                 string
	CanErase, CanImports                    bool
	Link                                    string // to this very view
	Notice, NoticeAs, Unsaid                string // a notice that is asked about, its title, and why nothing can be said
	Why                                     *WhyLine
	Events                                  []DeviceEvent // newest first
	EventsFirst, EventsNext                 string
	History                                 []DeliveryHistory
	FirstHref, NextHref                     string
}

// DeviceEvent is one change of the device. Detail is the reason or the former
// platform or vendor; By is such as token:7, import:5 or notice:12.
type DeviceEvent struct{ At, What, Detail, By, ByName string }

// DeliveryHistory is one notice's delivery to the device, call by call.
type DeliveryHistory struct {
	DeliveryRow
	NoticeState string
	Attempt     []AttemptRow
}

// AttemptRow is one vendor call.
type AttemptRow struct {
	At, Outcome, Reason, Code, Message, MessageID string
	TookMS                                        int64
	HTTP                                          int64 // 0: nobody answered
	Charged, Doubt                                bool
	Generation                                    int64
}

type deviceText struct {
	Title, Token, Vendor, Platform, User, Installation, Consent, State, Tags, Created, Registered, Erase string
	History, Empty, EmptyHint, Notice, Attempts, At, Took, Outcome, Answer, Words, Next                  string
	NoAnswer, NotCharged, Doubt, Generation, NoCall                                                      string
	Events, EventBy, First, EventsEmpty, EventPages                                                      string
}

func deviceWords() deviceText {
	return deviceText{
		Title: "Device", Token: "Token", Vendor: "Vendor", Platform: "Platform", User: "User", Installation: "Installation", Consent: "Consent", State: "State",
		Tags: "Tags", Created: "First seen", Registered: "Last registered", Erase: "Erase …",
		History: "Notices to this device", Empty: "No notice has gone to this device.",
		EmptyHint: "A notice reaches the devices that were registered when it was accepted, match its audience and have consent.",
		Notice:    "Notice", Attempts: "Calls to the vendor", At: "When", Took: "Took", Outcome: "Outcome", Answer: "Code", Words: "The vendor's words",
		Next: "What happens next:", NoAnswer: "no answer", NotCharged: "not charged", Doubt: "may have arrived all the same",
		Events: "Consent and state over time", EventBy: "by", First: "Registered for the first time",
		EventsEmpty: "Nothing else has changed since.", EventPages: "Pages of changes",
		Generation: "after replay", NoCall: "The vendor was not called.",
	}
}

// eventText says what changed.
func eventText(e DeviceEvent) string {
	switch e.What {
	case "consent_given":
		return "Consent given"
	case "consent_withdrawn":
		return "Consent withdrawn"
	case "disabled":
		return "Disabled: " + disabledText(e.Detail)
	case "enabled":
		return "Enabled again"
	case "token":
		return "A new token"
	case "vendor":
		return "Another vendor; it was " + vendorOf(e.Detail).text()
	case "keys":
		return "New keys of the browser"
	case "user":
		return "Moved to another user, or to none"
	case "platform":
		return "Another platform; it was " + e.Detail
	case "tags":
		return "Other tags"
	case "erased":
		return "Erased"
	default:
		return e.What
	}
}

// eventBy says who or what changed it, and where more of that is told.
func eventBy(e DeviceEvent) (words, href string) {
	kind, id, _ := strings.Cut(e.By, ":")
	switch kind {
	case "notice":
		return "the vendor's answer to notice #" + id, "/notices/" + id
	case "import":
		return "import #" + id, "/imports/" + id
	case "token":
		return "API, token " + cmp.Or(e.ByName, id), ""
	default:
		return cmp.Or(e.ByName, e.By), ""
	}
}

// nextText says what happens next to a delivery; when it is tried again is the
// row's DueAt. paused says that the vendor is not called.
func nextText(h DeliveryHistory, paused bool) string {
	switch h.Status {
	case "sent":
		return "Nothing: the vendor has it."
	case "failed":
		return noFurther(h.Reason) + " An admin can replay it from the archive, while the device is enabled and consents and the notice has not expired."
	case "skipped":
		return "Nothing: " + reasonText(h.Reason) + "."
	case "unknown":
		return "An operator decides on the notice's page: resend, or mark as sent."
	case "sending":
		return "The vendor is being called."
	}
	switch {
	case h.NoticeState == "paused":
		return "It waits: the notice is paused."
	case paused:
		return "It waits: calls to the vendor are paused."
	case h.DueAt != "":
		return "The vendor is called again at"
	default:
		return "The vendor is called as soon as its turn comes."
	}
}

// noFurther says why a delivery that failed is not tried again.
func noFurther(reason string) string {
	switch reason {
	case "token_expired", "rejected", "content_refused":
		return "No further attempt, because the vendor's answer is final."
	case "expired":
		return "No further attempt, because the notice has expired."
	case "outcome_unknown":
		return "No further attempt, because it may be what its workers were lost by."
	default:
		return "No further attempt, because the schedule of retries is used up."
	}
}

// disabledText says why a device is disabled.
func disabledText(reason string) string {
	switch reason {
	case "replaced":
		return "another device has its token now"
	case "admin":
		return "by an admin"
	case "not_in_list":
		return "a full list did not name it"
	default:
		return reasonText(reason)
	}
}

func outcomeText(outcome string) string {
	words := map[string]string{
		"sent": "accepted", "transient": "not now", "wait": "asked to wait", "permanent": "refused for good", "dead": "address gone",
		"settings": "our settings refused", "suspect": "refused (403)", "lost": "worker lost",
	}
	if w, ok := words[outcome]; ok {
		return w
	}
	return outcome
}

func deviceStateTone(state string) string {
	switch state {
	case "active":
		return "good"
	case "disabled":
		return "warn"
	default:
		return "calm"
	}
}
