package views

// Devices is the search for a device: by user, by number, or by its token.
type Devices struct {
	Shell
	User, ID string // what was asked
	Asked    bool   // false: nothing was asked yet
	Wrong    string // why nothing can be shown
	Items    []DeviceRow
	NextHref string
}

// DeviceRow is one device in the results.
type DeviceRow struct {
	ID, Token, Platform, User, State string
	Consent                          bool
	Tags                             []string
	RegisteredAt                     string
}

type devicesText struct {
	Title, User, UserFind, ID, IDFind, Token, TokenHint, TokenFind                string
	Caption, Device, Platform, State, Consent, Tags, Registered, Empty, EmptyHint string
	Yes, No, Intro, None                                                          string
}

func devicesWords() devicesText {
	return devicesText{
		Title: "Find a device", User: "User", UserFind: "Find by user", ID: "Device number", IDFind: "Find by number",
		Token: "Full token", TokenHint: "It is looked up by its hash and appears in no address and no log.", TokenFind: "Find by token",
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
	Consent                                 bool
	State                                   string // active, disabled or erased
	StateReason, StateAt                    string
	Tags                                    []string
	CreatedAt, RegisteredAt                 string
	CanErase                                bool
	History                                 []DeliveryHistory
	FirstHref, NextHref                     string
}

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
	Title, Token, Platform, User, Installation, Consent, State, Tags, Created, Registered, Erase string
	History, Empty, EmptyHint, Notice, Attempts, At, Took, Outcome, Answer, Words, Next          string
	NoAnswer, NotCharged, Doubt, Generation, NoCall                                              string
}

func deviceWords() deviceText {
	return deviceText{
		Title: "Device", Token: "Token", Platform: "Platform", User: "User", Installation: "Installation", Consent: "Consent", State: "State",
		Tags: "Tags", Created: "First seen", Registered: "Last registered", Erase: "Erase …",
		History: "Notices to this device", Empty: "No notice has gone to this device.",
		EmptyHint: "A notice reaches the devices that were registered when it was accepted, match its audience and have consent.",
		Notice:    "Notice", Attempts: "Calls to the vendor", At: "When", Took: "Took", Outcome: "Outcome", Answer: "Code", Words: "The vendor's words",
		Next: "What happens next:", NoAnswer: "no answer", NotCharged: "not charged", Doubt: "may have arrived all the same",
		Generation: "after replay", NoCall: "The vendor was not called.",
	}
}

// nextText says what happens next to a delivery; when it is tried again is the
// row's DueAt.
func nextText(h DeliveryHistory) string {
	switch h.Status {
	case "sent":
		return "Nothing: the vendor has it."
	case "failed":
		return "Nothing by itself. An admin can replay it from the archive."
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
	case h.DueAt != "":
		return "The vendor is called again at"
	default:
		return "The vendor is called as soon as its turn comes."
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
