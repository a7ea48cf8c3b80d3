package web

import (
	"net/http"

	"github.com/rmctl/rmctl/model"
)

// A launchPlace is a resource manager that jobs can be launched on.
type launchPlace struct {
	Name, Definition string
	Address          string // of its form; empty while it is not started
	State            string
	Saved            []launchSaved
}

// launchList shows where jobs can be launched.
func (s *Server) launchList(w http.ResponseWriter, r *http.Request) error {
	var places []launchPlace
	for _, manager := range s.platform.Managers() {
		place := launchPlace{Name: manager.Target.Name, Definition: manager.Target.Definition, State: string(manager.State)}
		if manager.State == model.StateStarted {
			place.Address = launchAddressOf(place.Name, "")
			saved, err := s.launchSaved(place.Name, place.Definition)
			if err != nil {
				return err
			}
			place.Saved = saved
		}
		places = append(places, place)
	}
	return s.page(w, r, http.StatusOK, "launches", "Launch", nil, places)
}
