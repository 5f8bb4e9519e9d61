package views

// Second is the page on which a person sets up the second factor.
type Second struct {
	Shell
	On            bool   // there is one already
	Since         string // since when
	Required      bool   // it must be set up before anything else
	QR            string // a picture as a data address
	Secret        string // to type where a picture cannot be read
	Wrong         string // what is wrong with the code
	PasswordWrong string
}

// RecoveryCodes are shown once.
type RecoveryCodes struct {
	Shell
	Codes []string
}

// SignInCode is the second step of signing in.
type SignInCode struct {
	Shell
	Next, Wrong string
}

type secondText struct {
	Title, Intro, Required, Scan, Typed, QRAlt, Code, CodeHint, Do, OnSince, Off, OffHint, Password string
	CodesTitle, CodesHint, Kept, SignTitle, SignIntro, SignHint, SignDo, Again, Link                string
}

func secondWords() secondText {
	return secondText{
		Title: "Second factor", Intro: "At sign-in an authenticator on your phone gives a code besides the password.",
		Required: "Admins of this installation sign in with a second factor. Set it up to go on.",
		Scan:     "Scan this with the authenticator, then type the code that it shows.", Typed: "Where it cannot be scanned, type this secret:",
		QRAlt: "QR code with the secret below", Code: "Code", CodeHint: "six digits", Do: "Turn it on",
		OnSince: "Your second factor is on since", Off: "Turn it off", OffHint: "You are signed out everywhere, and sign in with the password alone.",
		Password:   "Password",
		CodesTitle: "Recovery codes", CodesHint: "Each works once in place of a code, for the day the phone is lost. They are shown now and never again: print them or keep them with your passwords.",
		Kept: "I have kept them", SignTitle: "Sign in: the code", SignIntro: "The password is right. Now the code of your authenticator.",
		SignHint: "six digits, or one of your recovery codes", SignDo: "Sign in", Again: "Begin again", Link: "Second factor",
	}
}
