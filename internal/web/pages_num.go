package web

import (
	"strconv"
)

func itoa(number int) string { return strconv.Itoa(number) }
