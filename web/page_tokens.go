package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/views"
)

func tokensPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	m, err := s.tokenList(r)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.TokensPage(m))
}

func (s *Server) tokenList(r *http.Request) (m views.Tokens, err error) {
	cursor := r.FormValue("cursor")
	list, err := s.pages.Tokens(r.Context(), cursor, pageSize)
	if err != nil {
		return m, err
	}
	m = views.Tokens{FirstHref: firstHref("/tokens", cursor), NextHref: nextHref("/tokens", nil, list.Next)}
	m.Form = views.TokenForm{Role: string(db.Operator), Days: "365"}
	for _, t := range list.Items {
		m.Items = append(m.Items, tokenRow(t, s.now()))
	}
	m.Shell, err = s.shell(r, "tokens")
	return m, err
}

func tokenRow(t db.Token, now time.Time) views.TokenRow {
	state := "active"
	switch {
	case t.RevokedAt != nil:
		state = "revoked"
	case t.ExpiresAt != nil && !now.Before(*t.ExpiresAt):
		state = "ended"
	}
	return views.TokenRow{ID: idText(t.ID), Name: t.Name, Role: string(t.Role), State: state, CreatedAt: stamp(t.CreatedAt),
		LastUsedAt: stampOf(t.LastUsedAt), ExpiresAt: stampOf(t.ExpiresAt)}
}

// makeToken makes a program's token and shows it, once.
func makeToken(s *Server, w http.ResponseWriter, r *http.Request) error {
	f := views.TokenForm{Name: strings.TrimSpace(r.PostFormValue("name")), Role: r.PostFormValue("role"), Days: strings.TrimSpace(r.PostFormValue("days"))}
	until, ok := s.untilDays(f.Days)
	if !ok {
		f.DaysWrong = views.Said().DaysWrong
		return s.tokenAgain(w, r, f)
	}
	token, hash := NewToken()
	t, err := s.pages.AddTokenUntil(r.Context(), f.Name, db.Role(f.Role), hash, until, actorOf(r))
	if wrong := fieldWords(err); wrong != nil {
		f.NameWrong, f.RoleWrong = wrong["name"], wrong["role"]
		return s.tokenAgain(w, r, f)
	}
	if err != nil {
		return err
	}
	m := views.NewToken{Name: t.Name, Role: string(t.Role), Token: token, Until: stampOf(t.ExpiresAt)}
	if m.Shell, err = s.shell(r, "tokens"); err != nil {
		return err
	}
	return renderForm(w, r, http.StatusOK, views.NewTokenPage(m), views.NewTokenPart(m))
}

// untilDays gives the time that many days from now; nil for no end.
func (s *Server) untilDays(days string) (until *time.Time, ok bool) {
	if days == "" {
		return nil, true
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 1 || n > 3650 {
		return nil, false
	}
	t := s.now().Add(time.Duration(n) * 24 * time.Hour)
	return &t, true
}

// tokenAgain answers a form that has something wrong with it.
func (s *Server) tokenAgain(w http.ResponseWriter, r *http.Request, f views.TokenForm) error {
	m, err := s.tokenList(r)
	if err != nil {
		return err
	}
	m.Form = f
	return renderForm(w, r, http.StatusUnprocessableEntity, views.TokensPage(m), views.TokenFormPart(f))
}

// revokePage asks before a program loses its token.
func revokePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	t, err := s.pages.Token(r.Context(), id)
	if err != nil {
		return err
	}
	m := views.RevokeText(t.Name)
	if m.Shell, err = s.shell(r, "tokens"); err != nil {
		return err
	}
	m.Action, m.Back = "/tokens/"+idText(id)+"/revoke", "/tokens"
	return render(w, r, http.StatusOK, views.ConfirmPage(m))
}

func revokeToken(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actThen(w, r, views.Said().TokenRevoked, func(int64) string { return "/tokens" }, s.pages.RevokeToken)
}
