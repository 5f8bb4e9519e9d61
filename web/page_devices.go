package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"bongsu/db"
	"bongsu/views"
)

// devicesPage looks for devices by user or by number. A number that is there
// leads to its device.
func devicesPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	m := views.Devices{User: strings.TrimSpace(r.FormValue("user")), ID: strings.TrimSpace(r.FormValue("id"))}
	m.Asked = m.User != "" || m.ID != ""
	asked := askedNotice(r)
	m.Notice, m.Unsaid = asked.text, asked.wrong
	if m.ID != "" {
		id, err := strconv.ParseInt(m.ID, 10, 64)
		if err != nil {
			m.Wrong = views.Said().DigitsOnly
		} else if _, err = s.pages.Device(r.Context(), id); err == nil {
			return seeOther(w, r, withQuery(deviceHref(id), asked.values()))
		} else if !errors.Is(err, db.ErrNotFound) {
			return err
		}
	} else if m.User != "" {
		if err := s.devicesOfUser(r, &m, asked); err != nil {
			return err
		}
	}
	return s.renderDevices(w, r, m, asked)
}

// devicesOfUser puts a person's devices into m, and why the notice that is asked
// about did not reach them.
func (s *Server) devicesOfUser(r *http.Request, m *views.Devices, asked noticeAsked) error {
	cursor := r.FormValue("cursor")
	list, err := s.pages.DevicesByUser(r.Context(), m.User, cursor, pageSize)
	if err != nil {
		return err
	}
	detail := asked.detail()
	detail["user"] = m.User
	if err := s.noteFindOf(r, detail); err != nil {
		return err
	}
	keep := asked.values()
	keep.Set("user", m.User)
	m.NextHref, m.Link = nextHref("/devices", keep, list.Next), withQuery("/devices", keep, "cursor", cursor)
	ids := make([]int64, len(list.Items))
	for i, d := range list.Items {
		ids[i] = d.ID
		m.Items = append(m.Items, deviceRow(d))
	}
	if asked.id > 0 {
		m.Why, err = s.whyLines(r, asked.id, ids)
	}
	return err
}

// findDevice looks for a device by number, user or token. It is a POST, so that a
// token stands in no address and no log, whichever field it was typed into.
func findDevice(s *Server, w http.ResponseWriter, r *http.Request) error {
	asked := askedNotice(r)
	number, user, token := postField(r, "id"), postField(r, "user"), postField(r, "token")
	id, err := s.deviceOf(r, number, cmp.Or(number, user, token))
	switch {
	case err == nil:
		return seeOther(w, r, withQuery(deviceHref(id), asked.values()))
	case !errors.Is(err, db.ErrNotFound):
		return err
	case number != "":
		return s.notDone(w, r, views.Said().NoSuchDevice, withQuery("/devices", asked.values()))
	case user != "":
		return s.findUser(w, r, user, asked)
	default:
		return s.notDone(w, r, views.Said().NoSuchToken, withQuery("/devices", asked.values()))
	}
}

// deviceOf finds a device by its number, or else by its token.
func (s *Server) deviceOf(r *http.Request, number, token string) (int64, error) {
	if id, err := strconv.ParseInt(number, 10, 64); err == nil {
		if _, err := s.pages.Device(r.Context(), id); !errors.Is(err, db.ErrNotFound) {
			return id, err
		}
	}
	d, err := s.pages.DeviceByToken(r.Context(), token)
	return d.ID, err
}

// findUser leads to a person's devices. What names nobody is not repeated: it may
// be a token.
func (s *Server) findUser(w http.ResponseWriter, r *http.Request, user string, asked noticeAsked) error {
	list, err := s.pages.DevicesByUser(r.Context(), user, "", 1)
	if err != nil {
		return err
	}
	if len(list.Items) > 0 {
		return seeOther(w, r, withQuery("/devices", asked.values(), "user", user))
	}
	if err := s.noteFindOf(r, map[string]any{"found": 0}); err != nil {
		return err
	}
	return s.notDone(w, r, views.Said().NoSuchUser, withQuery("/devices", asked.values()))
}

func postField(r *http.Request, name string) string { return strings.TrimSpace(r.PostFormValue(name)) }

func (s *Server) renderDevices(w http.ResponseWriter, r *http.Request, m views.Devices, asked noticeAsked) error {
	if asked.id > 0 {
		n, _, err := s.pages.Notice(r.Context(), asked.id)
		if errors.Is(err, db.ErrNotFound) {
			m.Unsaid = views.Said().NoSuchNotice
		} else if err != nil {
			return err
		}
		m.NoticeAs = n.Title
	}
	var err error
	if m.Shell, err = s.shell(r, "devices"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.DevicesPage(m))
}

func deviceRow(d db.Device) views.DeviceRow {
	state, _, _ := deviceState(d)
	return views.DeviceRow{
		ID: idText(d.ID), Token: d.TokenMasked, At: vendorOf(d), Platform: d.Platform, User: textOf(d.Person), State: state,
		Consent: d.Consent, Tags: d.Tags, RegisteredAt: stamp(d.RegisteredAt),
	}
}

// vendorOf gives whose address a device has.
func vendorOf(d db.Device) views.Vendor {
	v := views.Vendor{Kind: d.Kind, Environment: textOf(d.Environment)}
	if d.Kind == db.KindWebPush {
		_, v.Host, _ = strings.Cut(d.Scope, ":")
	}
	return v
}

// deviceState gives the state of a device, why it is in it and since when.
func deviceState(d db.Device) (state, reason, since string) {
	switch {
	case d.ErasedAt != nil:
		return "erased", "", stampOf(d.ErasedAt)
	case d.DisabledAt != nil:
		return "disabled", textOf(d.DisabledReason), stampOf(d.DisabledAt)
	default:
		return "active", "", ""
	}
}

func deviceHref(id int64) string { return "/devices/" + idText(id) }
