package web

import (
	"net/http"

	"bongsu/views"
)

// Setting is one variable in force, its secret masked, as main gives it.
type Setting struct {
	Name, Value, Help string
	Default           bool // it is not set
}

func settingsPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	var m views.Settings
	for _, x := range s.settings {
		m.Items = append(m.Items, views.SettingRow(x))
	}
	var err error
	if m.Shell, err = s.shell(r, "settings"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.SettingsPage(m))
}
