package web

import (
	"net/http"
	"net/url"

	"bongsu/db"
	"bongsu/views"
)

// deliveriesPage lists a notice's deliveries, all or those of one status.
func deliveriesPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	status, cursor := r.FormValue("status"), r.FormValue("cursor")
	n, c, err := s.pages.Notice(r.Context(), id)
	if err != nil {
		return err
	}
	list, err := s.pages.Deliveries(r.Context(), id, status, cursor, pageSize)
	if err != nil {
		return err
	}
	path := noticeHref(id) + "/deliveries"
	m := views.Deliveries{
		NoticeID: idText(id), NoticeTitle: n.Title, Status: status, Tabs: statusTabs(path, status, c),
		NextHref:  nextHref(path, url.Values{"status": {status}}, list.Next),
		FirstHref: firstHref(path+"?status="+url.QueryEscape(status), cursor),
		CanDecide: may(r).Send, CanDevices: may(r).Devices,
	}
	for _, d := range list.Items {
		m.Items = append(m.Items, deliveryRow(d))
	}
	if m.Shell, err = s.shell(r, "notices"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.DeliveriesPage(m))
}

func statusTabs(path, on string, c db.Counts) []views.Tab {
	tabs := []views.Tab{{Href: path, Label: "all", N: c.Total, On: on == ""}}
	for _, t := range []struct {
		status string
		n      int64
	}{
		{"sent", c.Sent}, {"failed", c.Failed}, {"retrying", c.Retrying}, {"pending", c.Pending},
		{"sending", c.Sending}, {"skipped", c.Skipped}, {"unknown", c.Unknown},
	} {
		tabs = append(tabs, views.Tab{Href: path + "?status=" + t.status, Label: t.status, N: t.n, On: on == t.status})
	}
	return tabs
}

func deliveryRow(d db.Delivery) views.DeliveryRow {
	status := d.Status
	if status == "pending" && d.Charged > 0 {
		status = "retrying"
	}
	return views.DeliveryRow{
		NoticeID: idText(d.NoticeID), DeviceID: idText(d.DeviceID), Status: status,
		Reason: textOf(d.Reason), Code: textOf(d.Code), Message: textOf(d.Message),
		Attempts: int64(d.Attempts), At: stamp(d.UpdatedAt), DueAt: stampOf(d.DueAt), Twice: d.Twice,
	}
}
