package views

import "bongsu/views/ui"

// People is the list of those who can sign in, with the form to invite one.
type People struct {
	Shell
	Items               []PersonRow
	FirstHref, NextHref string
	Invite              InviteForm
}

// PersonRow is one line of it.
type PersonRow struct {
	ID, Email, Role string
	State           string // active, invited or disabled
	Sessions        int64
	SeenAt, Created string
	Self            bool // it is the reader
	Second          bool // signs in with a second factor
}

// InviteForm is what was typed, and what is wrong with it.
type InviteForm struct {
	Email, Role           string
	EmailWrong, RoleWrong string
}

// OneTimeLink is shown once, to be given to a person.
type OneTimeLink struct {
	Shell
	Email, Href, Until string
	Back               string
}

// Person is the page of one who can sign in.
type Person struct {
	Shell
	One        PersonRow
	LinkUntil  string // empty: no one-time link is open
	DisabledAt string
	Sessions   []SessionRow
}

// SessionRow is a browser that somebody is signed in with.
type SessionRow struct {
	ID, Agent, Address, StartedAt, SeenAt string
	This                                  bool // it is the reader's own
}

// Welcome is the page on which a one-time link leads to a password.
type Welcome struct {
	Shell
	Token, Email string
	Wrong        string // what is wrong with the password; empty: nothing
	RepeatWrong  string
}

// Account is what a person does with their own account.
type Account struct {
	Shell
	Sessions                            []SessionRow
	CurrentWrong, NewWrong, RepeatWrong string
}

type peopleText struct {
	Title, Intro, Caption, Email, Role, State, Sessions, Seen, Created, You                       string
	Invite, InviteHint, InviteDo, RoleLegend                                                      string
	LinkTitle, LinkFor, LinkOnce, LinkUntil, LinkBack, LinkField                                  string
	RoleDo, Disable, Enable, NewLink, NewLinkHint, LinkOpen, DisabledAt, EndAll                   string
	SessionsCaption, Agent, Address, Started, End, This, NoSession, NoSessionHint, Acts, Password string
	SecondName, SecondOn, SecondOff, SecondDrop                                                   string
	PersonAudit                                                                                   string
}

func peopleWords() peopleText {
	return peopleText{
		Title: "People", Intro: "Who can sign in. A role holds from the next request on; a disabled person is signed out at once.",
		Caption: "People", Email: "E-mail", Role: "Role", State: "State", Sessions: "Signed in", Seen: "Last seen", Created: "Since", You: "you",
		Invite: "Invite somebody", InviteHint: "They choose a password by a link that works once. Bongsu sends no mail: you pass the link on.",
		InviteDo: "Make the link", RoleLegend: "Role",
		LinkTitle: "A link that works once", LinkFor: "Give this link to", LinkOnce: "It is shown now and never again. Whoever has it chooses the password.",
		LinkUntil: "It works until", LinkBack: "Back to the people", LinkField: "Link",
		RoleDo: "Change the role", Disable: "Disable …", Enable: "Enable", NewLink: "Make a link for a new password",
		NewLinkHint: "The password that there is works until the link is used. An older link stops working.",
		LinkOpen:    "A one-time link is open until", DisabledAt: "Disabled since", EndAll: "Sign out everywhere",
		SessionsCaption: "Where this person is signed in", Agent: "Browser", Address: "Address", Started: "Signed in", End: "Sign out",
		This: "this browser", NoSession: "Signed in nowhere.", NoSessionHint: "Sessions end after 30 minutes without use, and after 10 hours in any case.",
		SecondName: "Second factor", SecondOn: "on", SecondOff: "off", SecondDrop: "Take the second factor away (lost phone)",
		Acts: "Acts", Password: "Password", PersonAudit: "What this person did",
	}
}

type accountText struct{ Title, Intro, Current, New, Repeat, Hint, Do, Others, Where string }

func accountWords() accountText {
	return accountText{
		Title: "Your account", Intro: "You are signed in as", Current: "Password now", New: "New password", Repeat: "New password again",
		Hint: "12 to 200 characters. A few unrelated words are easier to keep than signs.", Do: "Change the password",
		Others: "Sign out all other browsers", Where: "Where you are signed in",
	}
}

type welcomeText struct{ Title, Intro, Do, Gone, GoneWhat string }

func welcomeWords() welcomeText {
	return welcomeText{
		Title: "Choose a password", Intro: "It is for the account", Do: "Set the password",
		Gone:     "This link does not work any more.",
		GoneWhat: "It was used, or replaced by a newer one, or it is older than three days. Ask an admin for a new one.",
	}
}

// roleOptions are the roles with what each may do.
func roleOptions(on string) []ui.Option {
	return []ui.Option{
		{Value: "operator", Label: "operator: writes and sends notices", On: on == "operator"},
		{Value: "support", Label: "support: looks up devices and people", On: on == "support"},
		{Value: "admin", Label: "admin: all of that, and the archive, people, tokens and the log", On: on == "admin"},
	}
}

func personTone(state string) ui.Tone {
	switch state {
	case "active":
		return ui.Good
	case "invited":
		return ui.Next
	default:
		return ui.Warn
	}
}

// DisableText gives the words of the page that asks before a person is disabled.
func DisableText(email string) Confirm {
	return Confirm{
		Title: "Disable this person?",
		Says: []string{
			"“" + email + "” is signed out everywhere at once and cannot sign in again until an admin enables the account.",
			"What they did stays in the log. Notices that they sent go on.",
		},
		Yes: "Disable", No: "Back, do nothing",
	}
}

// RevokeText gives the words of the page that asks before a token is revoked.
func RevokeText(name string) Confirm {
	return Confirm{
		Title: "Revoke this token?",
		Says:  []string{"The program “" + name + "” is refused from its next request on. This cannot be taken back; a new token can be made."},
		Yes:   "Revoke the token", No: "Back, do nothing",
	}
}
