package views

import "bongsu/views/ui"

// Audit is the log of who did what.
type Audit struct {
	Shell
	Who, Act, Object, Result, From, To string // the filter as it was typed
	FromWrong, ToWrong                 string
	Items                              []AuditRow
	FirstHref, NextHref, CSVHref       string
	Narrowed                           bool // a filter is on
}

// AuditRow is one line of it.
type AuditRow struct {
	At, Name, Actor, Role, Act, Object, ObjectHref, Result, RequestID string
	Detail                                                            []DetailRow
}

// DetailRow is one fact of an act, such as what was before.
type DetailRow struct{ Name, Value string }

type auditText struct {
	Title, Intro, Caption, Who, WhoHint, Act, ActHint, Object, ObjectHint, Result, Any, From, To, TimeHint string
	Show, All, CSV, At, Detail, Request, Empty, EmptyHint, EmptyNarrow                                     string
}

func auditWords() auditText {
	return auditText{
		Title: "Log", Intro: "Every act, in the same transaction as what it changed. Lines can be added only; nothing changes or removes one.",
		Caption: "Acts, newest first", Who: "Who", WhoHint: "part of the name, or user:3, token:7, command", Act: "Act", ActHint: "such as notice or notice.cancel",
		Object: "Object", ObjectHint: "such as notice:12", Result: "Result", Any: "any", From: "From (UTC)", To: "To (UTC)", TimeHint: "such as 2027-01-31T18:00",
		Show: "Show", All: "Show all", CSV: "As CSV", At: "When", Detail: "What", Request: "Request",
		Empty: "Nothing has been done yet.", EmptyHint: "Acts appear here as they happen.", EmptyNarrow: "No act matches. Widen the filter.",
	}
}

func auditTone(result string) ui.Tone {
	if result == "refused" {
		return ui.Warn
	}
	return ui.Good
}

func resultOptions(on string) []ui.Option {
	return []ui.Option{
		{Value: "", Label: auditWords().Any, On: on == ""}, {Value: "done", Label: "done", On: on == "done"},
		{Value: "refused", Label: "refused", On: on == "refused"},
	}
}

// Settings is what the program runs under.
type Settings struct {
	Shell
	Items []SettingRow
}

// SettingRow is one setting in force; secrets are masked.
type SettingRow struct {
	Name, Value, Help string
	Default           bool // it is not set, so the default holds
}

type settingsText struct{ Title, Intro, Caption, Name, Value, Help, Default string }

func settingsWords() settingsText {
	return settingsText{
		Title: "Settings", Intro: "What this process runs under. Settings are environment variables, read at the start; secrets are masked.",
		Caption: "Settings in force", Name: "Variable", Value: "Value", Help: "What it does", Default: "default",
	}
}
