package web

import (
	"errors"
	"net/http"
	"strings"

	"bongsu/db"
	"bongsu/views"
)

func usersPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	m, err := s.people(r)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.PeoplePage(m))
}

func (s *Server) people(r *http.Request) (m views.People, err error) {
	cursor := r.FormValue("cursor")
	list, err := s.pages.Users(r.Context(), cursor, pageSize)
	if err != nil {
		return m, err
	}
	m = views.People{FirstHref: firstHref("/users", cursor), NextHref: nextHref("/users", nil, list.Next)}
	m.Invite.Role = string(db.Operator)
	for _, u := range list.Items {
		m.Items = append(m.Items, personRow(u, actorOf(r)))
	}
	m.Shell, err = s.shell(r, "people")
	return m, err
}

func personRow(u db.UserRow, reader db.Actor) views.PersonRow {
	state := "active"
	switch {
	case u.DisabledAt != nil:
		state = "disabled"
	case u.Invited:
		state = "invited"
	}
	return views.PersonRow{
		ID: idText(u.ID), Email: u.Email, Role: string(u.Role), State: state, Sessions: int64(u.Sessions),
		SeenAt: stampOf(u.SeenAt), Created: stamp(u.CreatedAt), Self: reader.ID == "user:"+idText(u.ID), Second: u.Second,
	}
}

// inviteUser makes an account and shows the link by which its person chooses a
// password.
func inviteUser(s *Server, w http.ResponseWriter, r *http.Request) error {
	f := views.InviteForm{Email: strings.TrimSpace(r.PostFormValue("email")), Role: r.PostFormValue("role")}
	token, hash := newLink()
	u, err := s.pages.InviteUser(r.Context(), f.Email, db.Role(f.Role), hash, actorOf(r))
	if wrong := fieldWords(err); wrong != nil {
		f.EmailWrong, f.RoleWrong = wrong["email"], wrong["role"]
		m, err := s.people(r)
		if err != nil {
			return err
		}
		m.Invite = f
		return renderForm(w, r, http.StatusUnprocessableEntity, views.PeoplePage(m), views.InvitePart(f))
	}
	if err != nil {
		return err
	}
	return s.showLink(w, r, u.Email, token, "/users")
}

// newUserLink makes another link for a person and shows it.
func newUserLink(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	token, hash := newLink()
	if err := s.pages.NewUserLink(r.Context(), id, hash, actorOf(r)); err != nil {
		return err
	}
	u, err := s.pages.User(r.Context(), id)
	if err != nil {
		return err
	}
	return s.showLink(w, r, u.Email, token, userHref(id))
}

func (s *Server) showLink(w http.ResponseWriter, r *http.Request, email, token, back string) error {
	m := views.OneTimeLink{Email: email, Href: s.origin(r) + "/welcome/" + token, Until: stamp(s.now().Add(db.LinkLife)), Back: back}
	var err error
	if m.Shell, err = s.shell(r, "people"); err != nil {
		return err
	}
	return renderForm(w, r, http.StatusOK, views.LinkPage(m), views.LinkPart(m))
}

// origin is how the reader's browser reaches us.
func (s *Server) origin(r *http.Request) string {
	if s.sessions.Cookie.Secure {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// fieldWords gives what is wrong with each field of a form, or nil where err is
// of another kind.
func fieldWords(err error) map[string]string {
	var invalid *db.InvalidError
	var conflict *db.ConflictError
	words := map[string]string{}
	switch {
	case errors.As(err, &invalid):
		for _, f := range invalid.Fields {
			words[f.Field] = f.Message
		}
	case errors.As(err, &conflict) && conflict.Field != "":
		words[conflict.Field] = conflict.Message
	default:
		return nil
	}
	return words
}

func userHref(id int64) string { return "/users/" + idText(id) }

func sessionRows(list []db.SessionRow, this string) (rows []views.SessionRow) {
	for _, x := range list {
		rows = append(rows, views.SessionRow{ID: x.ID, Agent: x.Agent, Address: x.Address,
			StartedAt: stamp(x.StartedAt), SeenAt: stamp(x.SeenAt), This: x.ID == this})
	}
	return rows
}

// thisSession is the ID of the session that r came with.
func (s *Server) thisSession(r *http.Request) string {
	return db.SessionID(s.sessions.Token(r.Context()))
}
