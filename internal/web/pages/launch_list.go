package pages

import (
	"net/http"

	"github.com/rmctl/rmctl/internal/vocabulary"
)

// A launchPlace is a target that jobs can be launched on.
type launchPlace struct {
	Name, Definition string
	Address          string // of its form; empty while it is not started
	State            string
	Saved            []launchSaved
}

// launchList shows where jobs can be launched.
func (p *Pages) launchList(w http.ResponseWriter, r *http.Request) error {
	var places []launchPlace
	for _, manager := range p.Platform.Managers() {
		place := launchPlace{Name: manager.Target.Name, Definition: manager.Target.Definition, State: string(manager.State)}
		if manager.State == vocabulary.StateStarted || manager.State == vocabulary.StateSuspended {
			place.Address = launchAddressOf(place.Name, "")
			saved, err := p.launchSaved(place.Name, place.Definition)
			if err != nil {
				return err
			}
			place.Saved = saved
		}
		places = append(places, place)
	}
	p.answer(w, r, http.StatusOK, document{title: "Launch", main: launchListMain(places)})
	return nil
}
