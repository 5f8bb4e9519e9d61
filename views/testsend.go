package views

import "bongsu/views/ui"

// TestForm chooses the devices of a test, beside the notice as it was typed.
type TestForm struct {
	Compose
	Numbers, User string // as typed; a token is not shown again
	Shown         []TestChoice
	More          bool // there are more than are shown
	NotFound      bool // something was looked for, and nothing was found
	Most          int
	Faults        []TestFault // why nothing was sent
	FromLast      bool        // those shown are of the reader's last test; none is chosen
}

// TestChoice is a device that a test may go to.
type TestChoice struct {
	DeviceRow
	On bool
}

// TestFault says what is wrong with a field.
type TestFault struct{ Field, Message string }

// TestSend is the page of a test that was sent.
type TestSend struct {
	Shell
	Title, Body, Link, AskedAt, AskedBy string
	BackHref                            string // to the notice as it was typed; empty: not for this reader
	BeforeHref, BeforeID, BeforeAt      string // the same text a moment ago; empty: none
	Live                                TestLive
}

// TestLive is the part that is asked for again and again.
type TestLive struct {
	ID, PollHref string
	Live         bool
	Wait         TestWait
	Items        []TestRow
}

// TestWait is what a test waits for.
type TestWait struct {
	Message string // key of the message that explains it; empty: for nothing that is known
	Since   string // since when it is so; empty: not known
}

// TestRow is what became of a test at one device.
type TestRow struct {
	DeviceID, Token, Platform     string // Token is masked
	Status, Reason, Code, Message string
	At                            string
}

type testText struct {
	Title, What, Numbers, NumbersHint, User, Token, TokenHint, Find string
	Choose, Device, Send, SendN, Back, NotFound, More, Fix, Empty   string
	Sent, By, Before, BeforeEnd, Outcome, Status, Why, At, Another  string
	LookAgain, Platform, FromLast, UserHint                         string
	Waits, WaitsEnd, Since, StatusPage, Runbook                     string
}

func testWords() testText {
	return testText{
		Title: "Send a test first", What: "This is what goes out",
		Numbers: "Device numbers", NumbersHint: "With spaces or commas between.", User: "User", Token: "Full token or endpoint",
		TokenHint: "It is looked up by its hash and appears in no address and no log.", Find: "Find devices",
		Choose: "Devices for the test", Device: "Device", Send: "Send the test", SendN: "Send the test to {n}",
		Back: "Back to the notice", NotFound: "No device was found.", More: "There are more. This many are offered at once:",
		Fix: "No test was sent.", Empty: "Find devices by user, number or token; then choose among them.",
		Sent: "Sent", By: "by", Before: "The same test was sent a moment before:",
		BeforeEnd: "Each is one of its own, so devices that are in both get it twice.",
		Outcome:   "What became of it, device by device", Status: "Status", Why: "Why", At: "When", Another: "Test",
		LookAgain: "Look again", Platform: "Platform",
		FromLast: "These are the devices of your last test. Choose among them, or find others.",
		UserHint: "The person's name or number as the app registered it, whole: yours, to test on your own phone.",
		Waits:    "It waits:", WaitsEnd: "Nothing is lost; it goes out by itself when that is over.", Since: "since",
		StatusPage: "Status", Runbook: "What to do",
	}
}

// typed is the notice as its form sends it.
func (m Compose) typed() []Hidden {
	all := []Hidden{{Name: "title", Value: m.Title}, {Name: "body", Value: m.Body}, {Name: "link", Value: m.Link}, {Name: "category", Value: m.Category},
		{Name: "tags", Value: m.Tags}, {Name: "expires_at", Value: m.ExpiresAt}, {Name: "repeat_of", Value: m.RepeatOf}}
	for _, p := range m.Platforms {
		all = append(all, Hidden{Name: "platforms", Value: p})
	}
	return all
}

// testField names a field of a notice as its form does.
func testField(field string) string {
	c, t := composeWords(), testWords()
	words := map[string]string{"title": c.TitleField, "body": c.Body, "link": c.Link, "category": c.Category, "platforms": c.Platforms,
		"tags": c.Tags, "expires_at": c.Expires, "devices": t.Choose, "numbers": t.Numbers, "user": t.User, "token": t.Token}
	if w, ok := words[field]; ok {
		return w
	}
	return field
}

// waitsFor names what a test waits for.
func (w TestWait) waitsFor() string {
	words := map[string]string{
		"redis-down": "the queue (Redis) does not answer", "redis-full": "the queue (Redis) is full",
		"no-worker": "no worker is running", "no-feeder": "nobody hands out work",
	}
	text, ok := words[w.Message]
	if !ok {
		text = w.Message
	}
	if w.Since != "" {
		return text + ", " + testWords().Since
	}
	return text
}

// testSays is how far a test is.
func testSays(l TestLive) string {
	var done int64
	for _, d := range l.Items {
		if d.Status != "pending" && d.Status != "sending" {
			done++
		}
	}
	return ui.Num(done) + " of " + ui.Of(int64(len(l.Items)), "device", "devices") + " done."
}
