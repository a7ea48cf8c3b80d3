package listing

import (
	"strconv"
)

func Itoa(number int) string { return strconv.Itoa(number) }
