package views

import (
	"strings"

	"bongsu/views/ui"
)

// Compose is the form for a new notice. It keeps what was typed.
type Compose struct {
	Shell
	Title, Body, Link string
	Category          string // info or ad
	Platforms         []string
	Tags              string            // as typed, with commas between
	ExpiresAt         string            // as a datetime-local input writes it, in UTC
	Wrong             map[string]string // field: what is wrong with it
	Problem           string            // what is wrong with the whole; empty: nothing
	ProblemHref       string            // where to look at the reason, such as the first notice
	RepeatOf          string            // id of the notice that this repeats; empty: none
	RepeatTitle       string
	Audience          Audience
	InUse             []string // tags that devices have, the most frequent first
	AskNobody         string   // nobody matches, and the reader is asked whether that is meant; the answer's value
	Nobody            string   // the answer: the value of an audience that may be nobody

	TitleLimit, BodyLimit int // in characters
}

// Audience is how many devices match now.
type Audience struct {
	Known   bool
	Devices int64
	Wrong   string // what is wrong with the audience; empty: nothing
	Missing []MissingTag
}

// MissingTag is a tag that no device has, and those that it may have meant.
type MissingTag struct {
	Tag  string
	Near []string
}

func (m Compose) platform(value, label string) ui.Option {
	for _, p := range m.Platforms {
		if p == value {
			return ui.Option{Value: value, Label: label, On: true}
		}
	}
	return ui.Option{Value: value, Label: label}
}

type composeText struct {
	Title, TitleField, Body, Link, LinkHint, Category, Info, Ad string
	Audience, Platforms, PlatformsHint, Tags, TagsHint          string
	Expires, ExpiresHint, Send, SendAgain, Preview, PreviewHead string
	Repeats, RepeatsHint, Fix, See, EmptyTitle, EmptyBody       string
	Test, TestHint, TestChoose                                  string
	InUse, AndMore, Nobody, NobodyTags, NobodyWhat, NobodyYes   string
	NoSuchTag, DidYouMean                                       string
}

func composeWords() composeText {
	return composeText{
		Title: "New notice", TitleField: "Title", Body: "Body", Link: "Link (optional)",
		LinkHint: "Opened when the notice is tapped.", Category: "Category", Info: "Information", Ad: "Advertisement",
		Audience: "Who gets it", Platforms: "Platforms", PlatformsHint: "None chosen means all of them.",
		Tags: "Tags (optional)", TagsHint: "With commas between; a device with any of them gets the notice.",
		Expires: "Ends at (optional, in UTC)", ExpiresHint: "Nothing is sent after that. Without it, a notice ends 24 hours after it was accepted, unless the settings say otherwise.",
		Send: "Send", SendAgain: "Send it again", Preview: "Count and preview", PreviewHead: "On a phone",
		Repeats: "This repeats", RepeatsHint: "It is a notice of its own: everybody in its audience gets it once more.",
		Fix: "Nothing was sent. Mend what is marked and press again.", See: "Look at that notice",
		EmptyTitle: "Title", EmptyBody: "Body",
		Test: "Send a test first", TestHint: "Title, body and link as typed above go to a few devices that you choose. What you typed stays.",
		TestChoose: "Choose devices …",
		InUse:      "In use:", AndMore: "and others",
		Nobody: "Nobody matches this audience now:", NobodyTags: "Nobody matches the tags", NobodyWhat: "Nothing was sent. Mend who gets it and press again, or say that you mean it.",
		NobodyYes: "Send it to nobody all the same: it is accepted and ends at once",
		NoSuchTag: "No device has the tag", DidYouMean: "Did you mean",
	}
}

// audienceText says how many devices match.
func audienceText(a Audience) string {
	switch {
	case a.Wrong != "":
		return a.Wrong
	case !a.Known:
		return "How many devices match is not known right now. The notice can be sent all the same."
	case a.Devices == 0:
		return "No device matches now. A notice to nobody ends at once."
	default:
		return ui.Of(a.Devices, "device matches", "devices match") + " now."
	}
}

// tagsShown is how many tags that are in use are named below the field.
const tagsShown = 12

// tagsHint says what tags are for, and names some that are in use.
func (m Compose) tagsHint() string {
	t := composeWords()
	if len(m.InUse) == 0 {
		return t.TagsHint
	}
	hint := t.TagsHint + " " + t.InUse + " " + strings.Join(m.InUse[:min(len(m.InUse), tagsShown)], ", ")
	if len(m.InUse) > tagsShown {
		hint += " " + t.AndMore
	}
	return hint
}

// nobodyText says of what audience nobody is.
func (m Compose) nobodyText() string {
	t := composeWords()
	if m.Tags == "" {
		return t.Nobody + " " + ui.Of(0, "device", "devices") + "."
	}
	return t.NobodyTags + " " + m.Tags + " now: " + ui.Of(0, "device", "devices") + "."
}

// text says that no device has the tag, and what may have been meant.
func (g MissingTag) text() string {
	t := composeWords()
	s := t.NoSuchTag + " " + g.Tag + "."
	if len(g.Near) > 0 {
		s += " " + t.DidYouMean + " " + strings.Join(g.Near, ", ") + "?"
	}
	return s
}
