package views

// SignIn is the page where a person says who they are.
type SignIn struct {
	Shell
	Email string // what was typed
	Wrong string // why the last try failed; empty: it is the first
	Next  string // path to go to afterwards; empty: the notices
	Ready bool   // a password was just chosen by a link
}

type signInText struct{ Title, Email, Password, Submit, Intro, Ready string }

func signInWords() signInText {
	return signInText{
		Title: "Sign in", Email: "E-mail", Password: "Password", Submit: "Sign in", Ready: "Your password is set. Sign in with it.",
		Intro: "An admin invites people, or makes accounts with the command bongsu user add.",
	}
}
