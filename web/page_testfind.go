package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"bongsu/db"
	"bongsu/views"
)

// testChoices is how many devices a page offers for a test.
const testChoices = 10

// findTestDevices looks for devices by what was typed, and adds them to those that are
// shown already. Looking for a person is kept in the log of acts.
func (s *Server) findTestDevices(r *http.Request, m *views.TestForm) ([]int64, error) {
	m.Numbers, m.User = strings.TrimSpace(r.PostFormValue("numbers")), strings.TrimSpace(r.PostFormValue("user"))
	token := strings.TrimSpace(r.PostFormValue("token"))
	m.Wrong = map[string]string{}
	ids := numbersOf(r.PostForm["shown"])
	hit := false
	add := func(list ...db.Device) {
		hit = hit || len(list) > 0
		for _, d := range list {
			if !slices.Contains(ids, d.ID) {
				ids = append(ids, d.ID)
			}
		}
	}
	asked := m.Numbers+m.User != ""
	found, err := s.devicesByNumbers(r, m)
	if err != nil {
		return nil, err
	}
	add(found...)
	if m.User != "" {
		if found, err = s.testDevicesOf(r, m); err != nil {
			return nil, err
		}
		add(found...)
	}
	if token != "" {
		d, err := s.pages.DeviceByToken(r.Context(), token)
		switch {
		case err == nil:
			add(d)
		case errors.Is(err, db.ErrNotFound):
			m.Wrong["token"] = views.Said().NoSuchToken
		default:
			return nil, err
		}
	}
	m.NotFound = !hit && asked && len(m.Wrong) == 0
	return ids, nil
}

// lastTestDevices offers the devices of the sender's last test where nothing was looked
// for yet; none of them is chosen.
func (s *Server) lastTestDevices(r *http.Request, m *views.TestForm) ([]int64, error) {
	ids, err := s.pages.LastTestDevices(r.Context(), actorOf(r).ID)
	m.FromLast = len(ids) > 0
	return ids, err
}

func (s *Server) devicesByNumbers(r *http.Request, m *views.TestForm) ([]db.Device, error) {
	typed := strings.FieldsFunc(m.Numbers, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r' })
	ids := numbersOf(typed)
	if len(ids) < len(typed) {
		m.Wrong["numbers"] = views.Said().DigitsOnly
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.pages.DevicesByID(r.Context(), ids[:min(len(ids), testChoices+1)])
}

func (s *Server) testDevicesOf(r *http.Request, m *views.TestForm) ([]db.Device, error) {
	list, err := s.pages.DevicesByUser(r.Context(), m.User, "", testChoices+1)
	var invalid *db.InvalidError
	if errors.As(err, &invalid) {
		m.Wrong["user"] = invalid.Fields[0].Message
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	detail := map[string]any{"user": m.User}
	if len(list.Items) == 0 { // what names nobody is not repeated: it may be a token
		m.User, detail = "", map[string]any{"found": 0}
	}
	return list.Items, s.noteFindOf(r, detail)
}

// numbersOf reads numbers, and leaves out what is none.
func numbersOf(texts []string) (ids []int64) {
	for _, s := range texts {
		if id, err := strconv.ParseInt(s, 10, 64); err == nil && id > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// formField is the form's name of a field that the API names, such as audience.tags[2].
func formField(field string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(field, "audience."), "[")
	return name
}
