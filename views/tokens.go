package views

import "bongsu/views/ui"

// Tokens is the list of programs that use the API, with the form for a new one.
type Tokens struct {
	Shell
	Items               []TokenRow
	FirstHref, NextHref string
	Form                TokenForm
}

// TokenRow is one line of it.
type TokenRow struct {
	ID, Name, Role                   string
	State                            string // active, ended or revoked
	CreatedAt, LastUsedAt, ExpiresAt string
}

// TokenForm is what was typed, and what is wrong with it.
type TokenForm struct {
	Name, Role, Days                string
	NameWrong, RoleWrong, DaysWrong string
}

// NewToken is a token that is shown once.
type NewToken struct {
	Shell
	Name, Role, Token, Until string
}

type tokensText struct {
	Title, Intro, Caption, Name, Role, State, Created, Used, Expires, Never, Acts, Revoke string
	New, NameHint, Days, DaysHint, Do                                                     string
	Made, Once, Use, Back, Token, Empty, EmptyHint                                        string
}

func tokensWords() tokensText {
	return tokensText{
		Title: "API tokens", Intro: "Each program that uses the API has a token of its own, with a role as people have. Only its hash is kept.",
		Caption: "Tokens", Name: "Program", Role: "Role", State: "State", Created: "Made", Used: "Last used", Expires: "Works until", Never: "no end",
		Acts: "Acts", Revoke: "Revoke …",
		New: "A new token", NameHint: "What the program is called in the log.", Days: "Works for (days)", DaysHint: "1 to 3650; left empty, it has no end.",
		Do: "Make the token", Made: "The new token", Once: "It is shown now and never again. Copy it to where the program keeps its secrets.",
		Use: "The program sends it as", Back: "Back to the tokens", Token: "Token",
		Empty: "No program has a token yet.", EmptyHint: "Make one below; the API is described at /api/v1/openapi.yaml.",
	}
}

func tokenTone(state string) ui.Tone {
	if state == "active" {
		return ui.Good
	}
	return ui.Warn
}
