package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"bongsu/db"
)

// devicesBodyLimit is for a list of devices, in bytes.
const devicesBodyLimit = 16 << 20

// apiPutDevices is PUT /devices: one device, or a list of them.
func apiPutDevices(s *Server, w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	in, one, err := readDevices(r)
	if err != nil {
		return err
	}
	if err := s.checkEndpoints(r.Context(), in); err != nil {
		return nameFields(err, one)
	}
	all, err := s.pages.PutDevices(r.Context(), in, actorOf(r))
	if err != nil {
		return nameFields(err, one)
	}
	if one {
		return writeJSON(w, http.StatusOK, shapeDevice(all[0]))
	}
	return writePage(w, db.Page[db.Device]{Items: all}, shapeDevice)
}

// readDevices reads one device or a list; one says which.
func readDevices(r *http.Request) (in []db.DeviceInput, one bool, err error) {
	raw, err := readJSON(r)
	if err != nil {
		return nil, false, err
	}
	var f faults
	if !startsWith(raw, '[') {
		return []db.DeviceInput{readDevice(raw, "", &f)}, true, f.err()
	}
	eachOf(raw, "devices", &f, func(raw json.RawMessage, path string) {
		in = append(in, readDevice(raw, path, &f))
	})
	return in, false, f.err()
}

func readDevice(raw json.RawMessage, path string, f *faults) db.DeviceInput {
	o := newObject(raw, path, f)
	d := db.DeviceInput{
		Token: orEmpty(o.text("token")), Vendor: o.text("vendor"), Environment: o.text("environment"), P256dh: o.text("p256dh"),
		Auth: o.text("auth"), Platform: orEmpty(o.text("platform")), User: o.text("user"),
		Tags: o.texts("tags"), Consent: o.flag("consent"), Installation: o.text("installation"),
	}
	o.end()
	return d
}

// checkEndpoints asks whether the endpoints of Web Push in a list may be called. It
// is an *db.InvalidError that names those that may not, and an *endpointError where
// nobody can tell now.
func (s *Server) checkEndpoints(ctx context.Context, in []db.DeviceInput) error {
	if len(in) > db.MaxDevices {
		return nil // refused for that
	}
	checks := db.NewEndpointChecks(s.endpoint)
	var bad []db.FieldError
	for i, d := range in {
		fault, unsure, err := checks.Check(ctx, d)
		switch {
		case err != nil:
			return err
		case unsure:
			return &endpointError{db.EndpointHost(d.Token)}
		case fault != nil:
			bad = append(bad, db.FieldError{Field: fmt.Sprintf("devices[%d].%s", i, fault.Field), Message: fault.Message})
		}
	}
	if bad != nil {
		return &db.InvalidError{Fields: bad}
	}
	return nil
}

// nameFields names the fields of a device that came alone as its sender does.
func nameFields(err error, one bool) error {
	var invalid *db.InvalidError
	if !one || !errors.As(err, &invalid) {
		return err
	}
	fields := make([]db.FieldError, len(invalid.Fields))
	for i, f := range invalid.Fields {
		fields[i] = db.FieldError{Field: strings.TrimPrefix(f.Field, "devices[0]."), Message: f.Message}
	}
	return &db.InvalidError{Fields: fields}
}

// apiDevices is GET /devices?user=.
func apiDevices(s *Server, w http.ResponseWriter, r *http.Request) error {
	q := query(r, "user", "limit", "cursor")
	cursor, limit := q.page()
	user := q.values.Get("user")
	if user == "" {
		q.faults.say("user", "is missing: say whose devices you look for")
	}
	if err := q.faults.err(); err != nil {
		return err
	}
	p, err := s.pages.DevicesByUser(r.Context(), user, cursor, limit)
	if err != nil {
		return err
	}
	if err := s.noteFind(r, user); err != nil {
		return err
	}
	return writePage(w, p, shapeDevice)
}

// apiDevice is GET /devices/{id}.
func apiDevice(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	d, err := s.pages.Device(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, shapeDevice(d))
}

// apiEraseDevice is DELETE /devices/{id}.
func apiEraseDevice(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := errors.Join(noQuery(r), noBody(r)); err != nil {
		return err
	}
	if err := s.pages.EraseDevice(r.Context(), id, actorOf(r)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// apiDeviceDeliveries is GET /devices/{id}/deliveries.
func apiDeviceDeliveries(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	q := query(r, "limit", "cursor")
	cursor, limit := q.page()
	if err := q.faults.err(); err != nil {
		return err
	}
	if _, err := s.pages.Device(r.Context(), id); err != nil {
		return err
	}
	p, err := s.pages.DeviceDeliveries(r.Context(), id, cursor, limit)
	if err != nil {
		return err
	}
	if err := s.noteRead(r, "device:"+idText(id)); err != nil {
		return err
	}
	return writePage(w, p, shapeDeviceDelivery)
}
