package web

import (
	"errors"
	"net/http"
	"net/url"
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
	if m.ID != "" {
		id, err := strconv.ParseInt(m.ID, 10, 64)
		if err != nil {
			m.Wrong = views.Said().DigitsOnly
		} else if _, err = s.pages.Device(r.Context(), id); err == nil {
			return seeOther(w, r, deviceHref(id))
		} else if !errors.Is(err, db.ErrNotFound) {
			return err
		}
	} else if m.User != "" {
		list, err := s.pages.DevicesByUser(r.Context(), m.User, r.FormValue("cursor"), pageSize)
		if err != nil {
			return err
		}
		if err := s.noteFind(r, m.User); err != nil {
			return err
		}
		m.NextHref = nextHref("/devices", url.Values{"user": {m.User}}, list.Next)
		for _, d := range list.Items {
			m.Items = append(m.Items, deviceRow(d))
		}
	}
	return s.renderDevices(w, r, m)
}

// findDevice looks for the device of a token. It is a POST, so that the token
// stands in no address and no log.
func findDevice(s *Server, w http.ResponseWriter, r *http.Request) error {
	token := strings.TrimSpace(r.PostFormValue("token"))
	d, err := s.pages.DeviceByToken(r.Context(), token)
	if err == nil {
		return seeOther(w, r, deviceHref(d.ID))
	}
	if !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return s.notDone(w, r, views.Said().NoSuchToken, "/devices")
}

func (s *Server) renderDevices(w http.ResponseWriter, r *http.Request, m views.Devices) error {
	var err error
	if m.Shell, err = s.shell(r, "devices"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.DevicesPage(m))
}

func deviceRow(d db.Device) views.DeviceRow {
	state, _, _ := deviceState(d)
	return views.DeviceRow{
		ID: idText(d.ID), Token: d.TokenMasked, Platform: d.Platform, User: textOf(d.Person), State: state,
		Consent: d.Consent, Tags: d.Tags, RegisteredAt: stamp(d.RegisteredAt),
	}
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
