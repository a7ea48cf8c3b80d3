package tui

import tea "charm.land/bubbletea/v2"

var namedKeys = map[string]tea.KeyPressMsg{
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "end": {Code: tea.KeyEnd}, "home": {Code: tea.KeyHome},
	"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
}
