package web

import (
	"net/http"

	"bongsu/db"
	"bongsu/views"
)

// historySize is how many notices a device's page shows at once: each comes with
// all its calls.
const historySize = 20

// devicePage shows a device and what happened to each notice on its way there.
func devicePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	d, err := s.pages.Device(r.Context(), id)
	if err != nil {
		return err
	}
	cursor, events := r.FormValue("cursor"), r.FormValue("events")
	list, err := s.pages.DeviceDeliveries(r.Context(), id, cursor, historySize)
	if err != nil {
		return err
	}
	changes, err := s.pages.DeviceEvents(r.Context(), id, events, pageSize)
	if err != nil {
		return err
	}
	asked := askedNotice(r)
	if err := s.noteReadOf(r, "device:"+idText(id), asked.detail()); err != nil {
		return err
	}
	m := viewDevice(d)
	path, keep := deviceHref(id), asked.values()
	m.FirstHref, m.NextHref = firstHref(withQuery(path, keep), cursor), nextHref(path, keep, list.Next)
	m.EventsFirst = firstHref(withQuery(path, keep), events)
	if changes.Next != "" {
		keep.Set("events", changes.Next)
		m.EventsNext = withQuery(path, keep)
	}
	m.Link = withQuery(path, asked.values(), "cursor", cursor, "events", events)
	m.CanErase, m.CanImports = m.State != "erased" && may(r).Devices, may(r).Send
	for _, e := range changes.Items {
		m.Events = append(m.Events, views.DeviceEvent{At: stamp(e.At), What: e.What, Detail: textOf(e.Detail), By: e.By, ByName: textOf(e.ByName)})
	}
	m.Notice, m.Unsaid = asked.text, asked.wrong
	if asked.id > 0 {
		why, err := s.whyLines(r, asked.id, []int64{id})
		if err != nil {
			return err
		}
		m.Why, m.NoticeAs = &why[0], why[0].NoticeTitle
	}
	for _, x := range list.Items {
		m.History = append(m.History, shapeHistory(x))
	}
	if m.Shell, err = s.shell(r, "devices"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.DevicePage(m))
}

// noteRead keeps in the log of acts that somebody read a person's history.
func (s *Server) noteRead(r *http.Request, object string) error { return s.noteReadOf(r, object, nil) }

func (s *Server) noteReadOf(r *http.Request, object string, detail map[string]any) error {
	return s.pages.NoteAct(r.Context(), actorOf(r), "device.read", object, detail)
}

// noteFind keeps in the log of acts that somebody looked for a person's devices.
func (s *Server) noteFind(r *http.Request, user string) error {
	return s.noteFindOf(r, map[string]any{"user": user})
}

func (s *Server) noteFindOf(r *http.Request, detail map[string]any) error {
	return s.pages.NoteAct(r.Context(), actorOf(r), "device.find", "devices", detail)
}

func viewDevice(d db.Device) views.Device {
	m := views.Device{
		ID: idText(d.ID), Token: d.TokenMasked, At: vendorOf(d), Platform: d.Platform, User: textOf(d.Person), Installation: textOf(d.Installation),
		Consent: d.Consent, Tags: d.Tags, CreatedAt: stamp(d.CreatedAt), RegisteredAt: stamp(d.RegisteredAt),
	}
	m.State, m.StateReason, m.StateAt = deviceState(d)
	return m
}

func shapeHistory(d db.DeviceDelivery) views.DeliveryHistory {
	h := views.DeliveryHistory{DeliveryRow: deliveryRow(d.Delivery), NoticeState: d.NoticeState}
	h.NoticeTitle = d.NoticeTitle
	for _, a := range d.AttemptRows {
		row := views.AttemptRow{
			At: stampMillis(a.StartedAt), Outcome: a.Outcome, Reason: textOf(a.Reason), Code: textOf(a.Code), Message: textOf(a.Message),
			MessageID: textOf(a.MessageID), TookMS: int64(a.TookMs), Charged: a.Charged, Doubt: a.Doubt, Generation: int64(a.Generation),
		}
		if a.HTTP != nil {
			row.HTTP = int64(*a.HTTP)
		}
		h.Attempt = append(h.Attempt, row)
	}
	return h
}

// erasePage asks before a device is erased.
func erasePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if _, err := s.pages.Device(r.Context(), id); err != nil {
		return err
	}
	m := views.EraseText()
	if m.Shell, err = s.shell(r, "devices"); err != nil {
		return err
	}
	m.Action, m.Back = deviceHref(id)+"/erase", deviceHref(id)
	return render(w, r, http.StatusOK, views.ConfirmPage(m))
}

func eraseDevice(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := s.pages.EraseDevice(r.Context(), id, actorOf(r)); err != nil {
		return err
	}
	return s.doneThen(w, r, views.Said().DeviceErased, deviceHref(id))
}
