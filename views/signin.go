package views

// SignIn is the page where a person says who they are.
type SignIn struct {
	Shell
	Email string // what was typed
	Wrong string // why the last try failed; empty: it is the first
	Next  string // path to go to afterwards; empty: the notices
}

type signInText struct{ Title, Email, Password, Submit, Intro string }

func signInWords() signInText {
	return signInText{
		Title: "Sign in", Email: "E-mail", Password: "Password", Submit: "Sign in",
		Intro: "An admin makes accounts with the command bongsu user add.",
	}
}
