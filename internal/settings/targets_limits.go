package settings

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A Duration is a length of time, such as "30s", in a targets file.
type Duration struct{ time.Duration }

// longestDuration bounds durations: a mistyped one must not stop all listings.
const longestDuration = 24 * time.Hour

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 || parsed > longestDuration {
		return fmt.Errorf("invalid duration %.100q: use a number with its unit, such as \"30s\", up to \"24h\"", text)
	}
	d.Duration = parsed
	return nil
}

// MarshalText returns the duration as targets files have it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the duration without parts that are zero.
func (d Duration) String() string {
	text := d.Duration.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// isShorter reports whether the duration is set, and shorter than another one.
func (d Duration) isShorter(other Duration) bool {
	return d.Duration > 0 && d.Duration < other.Duration
}

func longer(a, b Duration) Duration { return Duration{max(a.Duration, b.Duration)} }

// Limits are how often schedulers are queried.
type Limits struct {
	Interval     Duration `toml:"interval,omitempty" json:"interval,omitzero"`          // the shortest time between two listings
	ShareAnswers Duration `toml:"share_answers,omitempty" json:"shareAnswers,omitzero"` // the maximum age of answers shared between processes
}

// leastShareAnswers is how long answers are shared in any case.
const leastShareAnswers = time.Second

func (l *Limits) check() error {
	if l.ShareAnswers.Duration > 0 && l.ShareAnswers.Duration < leastShareAnswers {
		return fmt.Errorf("share_answers must be at least %s", leastShareAnswers)
	}
	return nil
}

// of returns the limit of a setting.
func (l *Limits) of(setting string) *Duration {
	if setting == settingInterval {
		return &l.Interval
	}
	return &l.ShareAnswers
}

// limitAll determines the limits of all targets from both files.
func (t *Targets) limitAll() {
	for _, setting := range []string{settingInterval, settingShareAnswers} {
		if t.user.of(setting).isShorter(*t.site.of(setting)) && t.isLocked(setting) {
			t.refuse("", setting)
		}
	}
	for _, name := range t.Names() {
		target := t.all[name]
		for _, setting := range []string{settingInterval, settingShareAnswers} {
			*target.limits.of(setting) = t.limit(&target, setting)
		}
		t.all[name] = target
	}
}

// limit returns a limit of a target. A setting of the target wins over one for all targets,
// and the user's over the site's unless the site locks it.
func (t *Targets) limit(target *Target, setting string) Duration {
	users, sites := t.user.Targets[target.Name], t.site.Targets[target.Name]
	mine := *users.of(setting)
	if !t.isLocked(setting) {
		return cmp.Or(mine, *sites.of(setting), *t.user.of(setting), *t.site.of(setting))
	}
	least := t.least(target, setting)
	if mine.isShorter(least) {
		t.refuse(target.Name, setting)
		*target.of(setting) = least
	}
	return longer(least, cmp.Or(mine, *t.user.of(setting)))
}

// least returns the locked limit of a target. A target of the user's own, or one that the
// user's file lets query another scheduler, has the longest one of the site for its host.
func (t *Targets) least(target *Target, setting string) Duration {
	least := *t.site.of(setting)
	sites, isSites := t.siteHas[target.Name]
	switch {
	case isSites && HaveSamePlace(sites, *target):
		return cmp.Or(*sites.of(setting), least)
	case target.Shipped:
		return least
	}
	for _, other := range t.siteHas {
		if other.Host == target.Host {
			least = longer(least, *other.of(setting))
		}
	}
	return least
}

// Limited returns a target that is in no file, with the limits of one that the user's file has.
func (t *Targets) Limited(target Target) Target {
	for _, setting := range []string{settingInterval, settingShareAnswers} {
		*target.limits.of(setting) = t.limit(&target, setting)
	}
	return target
}
