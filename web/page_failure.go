package web

import (
	"net/http"
	"slices"

	"bongsu/views"
)

// resubmit is a form as it was sent, for the page that says it failed: without
// script what was typed would be lost otherwise. It is nil for htmx, which
// leaves the form where it is, and for anything that is no form. A password is
// never given back.
func resubmit(r *http.Request) *views.Again {
	if r.Method != http.MethodPost || isHTMX(r) || r.URL.Path == "/signin" {
		return nil
	}
	form := stateOf(r.Context()).form
	if form == nil { // it failed before anybody read it
		if r.ParseForm() != nil {
			return nil
		}
		form = r.PostForm
	}
	again := &views.Again{Action: r.URL.RequestURI()}
	for name, values := range form {
		for _, v := range values {
			again.Fields = append(again.Fields, views.Hidden{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(again.Fields, func(a, b views.Hidden) int { return formOrder(a.Name) - formOrder(b.Name) })
	return again
}

// formOrder puts what people typed first.
func formOrder(name string) int {
	return (slices.Index([]string{"title", "body", "link"}, name) + 4) % 4
}

// signedOutNote tells a page that asked by htmx that its session is over. The
// page stays, and with it what was typed.
func signedOutNote(back string) views.Problem {
	words := views.Said()
	return views.Problem{
		Title: words.SignedOut,
		What:  words.SignedOutWhat,
		Back:  signInPath(back), BackText: words.SignIn, NewTab: true,
	}
}
