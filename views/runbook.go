package views

import (
	"slices"
	"strings"
)

// Message is one thing that Bongsu says when a part is not well, with all that
// helps whoever reads it. It is in the program, so that it can be read while the
// database is away.
type Message struct {
	Key   string // its place in addresses, such as redis-down
	Title string
	See   string   // what you see
	Means string   // what it means
	Lost  string   // whether anything is lost
	Do    []string // what to do now, step by step
	Over  string   // how you know that it is over

	// One line for each reader on the Status page: who sends, who looks things up,
	// and who runs it.
	Operator, Support, Admin string
}

// Messages gives all messages, in the order in which they are looked for: the
// first that fits is the cause, the others follow from it.
func Messages() []Message {
	return slices.Concat(databaseMessages(), queueMessages(), workMessages(), vendorMessages(), answerMessages())
}

// MessageOf gives the message of this key; false where there is none.
func MessageOf(key string) (Message, bool) {
	all := Messages()
	i := slices.IndexFunc(all, func(m Message) bool { return m.Key == key })
	if i < 0 {
		return Message{}, false
	}
	return all[i], true
}

// MessageTitle says in a few words what the message of this key says.
func MessageTitle(key string) string {
	m, _ := MessageOf(key)
	return m.Title
}

// answer gives the first word about what is lost, which is the answer, and the
// rest.
func (m Message) answer() (word, rest string) {
	word, rest, _ = strings.Cut(m.Lost, " ")
	return word, rest
}

// line is what the message means for somebody who may do this. Where nobody
// knows who it is, it speaks to the one who sends.
func (m Message) line(can Can) string {
	switch {
	case can.Admin:
		return m.Admin
	case can.Devices && !can.Send:
		return m.Support
	default:
		return m.Operator
	}
}

// RunbookPath is where the message of this key is explained.
func RunbookPath(key string) string { return "/runbook/" + key }

// Runbook is the page of one message, or the list of all where Key is empty.
type Runbook struct {
	Shell
	Message Message
}

// runbookPictures are what the pages showed, taken by the browser test, beside the
// document.
var runbookPictures = map[string][]string{
	"database-down":      {"submit-database-down.png", "status-database-down.png", "runbook-database-down.png"},
	"redis-down":         {"status-redis-down.png", "runbook-redis-down.png"},
	"no-worker":          {"status-no-worker.png", "runbook-no-worker.png"},
	"vendor-credentials": {"status-vendor-paused.png", "runbook-vendor-credentials.png"},
}

// RunbookMarkdown is the runbook as a document.
func RunbookMarkdown() string {
	t := runbookWords()
	var b strings.Builder
	b.WriteString("# " + t.Title + "\n\n" + t.Intro + "\n\n| | |\n|---|---|\n")
	for _, m := range Messages() {
		b.WriteString("| [" + m.Key + "](#" + m.Key + ") | " + m.Title + " |\n")
	}
	for _, m := range Messages() {
		b.WriteString("\n## " + m.Key + "\n\n**" + m.Title + "**\n")
		for _, picture := range runbookPictures[m.Key] {
			b.WriteString("\n![" + m.Title + "](" + picture + ")\n")
		}
		for _, part := range [][2]string{{t.See, m.See}, {t.Means, m.Means}, {t.Lost, m.Lost}} {
			b.WriteString("\n" + part[0] + ": " + part[1] + "\n")
		}
		b.WriteString("\n" + t.Do + ":\n\n")
		for _, step := range m.Do {
			b.WriteString("1. " + step + "\n")
		}
		b.WriteString("\n" + t.Over + ": " + m.Over + "\n")
	}
	return b.String()
}
