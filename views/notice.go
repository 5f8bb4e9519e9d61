package views

import "strings"

// Notice is the page of one notice.
type Notice struct {
	Shell
	ID, Title, Body, Link, Category string
	Audience                        string // the choice in words, such as "android, ios; tags vip"
	AcceptedAt, AcceptedBy          string
	ExpiresAt                       string
	RepeatOf                        string // id; empty: it is the first
	StateBy, StateAt                string // who paused, resumed or cancelled last
	Original                        bool   // the reader has just submitted the same content again
	Newest                          Repeat // the newest of its repeats; empty ID: there is none
	Progress                        Progress
}

// Repeat names another notice with the same content.
type Repeat struct{ ID, State, AcceptedAt, By string }

type noticeText struct {
	What, TitleWord, Body, Link, Category, Audience, Accepted, By, Expires string
	RepeatOf, Newest, LastAct, Original, OriginalEnd, SendAgain            string
	All, Nothing                                                           string
}

func noticeWords() noticeText {
	return noticeText{
		What: "What was sent, to whom and by whom", TitleWord: "Title", Body: "Body", Link: "Link", Category: "Category", Audience: "Audience",
		Accepted: "Accepted", By: "by", Expires: "Ends", RepeatOf: "Repeats", Newest: "Newest repeat", LastAct: "Last changed",
		Original:    "You submitted the same notice again. It was accepted at",
		OriginalEnd: "this is the original, and nothing was sent twice. If you mean to send it once more, press Send it again.",
		SendAgain:   "Send it again",
		All:         "All deliveries", Nothing: "none",
	}
}

func categoryText(category string) string {
	if category == "ad" {
		return "advertisement"
	}
	return "information"
}

// AudienceWords says whom a notice is for; empty lists mean everybody.
func AudienceWords(platforms, tags []string) string {
	words := "all platforms"
	if len(platforms) > 0 {
		words = strings.Join(platforms, ", ")
	}
	if len(tags) > 0 {
		words += "; with any of the tags " + strings.Join(tags, ", ")
	}
	return words
}
