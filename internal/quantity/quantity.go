// Package quantity parses amounts of memory and durations as schedulers write them.
package quantity

import (
	"math"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

var amountPattern = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)$`)

// Mebibytes reads an amount of memory, in the unit for a bare number, as whole MiB. It reports false for
// any other text.
func Mebibytes(text, unit string) (value string, isAmount bool) {
	match := amountPattern.FindStringSubmatch(text)
	if match == nil {
		return "", false
	}
	if match[2] == "" {
		match[2] = unit
	}
	power := strings.Index("BKMGTPE", strings.ToUpper(match[2] + "B")[:1])
	number, err := strconv.ParseFloat(match[1], 64)
	if err != nil || power < 0 {
		return "", false
	}
	return strconv.FormatFloat(math.Floor(number*math.Pow(1024, float64(power-2))), 'f', 0, 64), true
}

// Seconds reads a duration: D-HH:MM:SS, HH:MM:SS, MM:SS, a number with a unit such as 300 sec, or one in
// the unit for a bare number (seconds without it). It reports false for any other text.
func Seconds(text, unit string) (value string, isLength bool) {
	if match := amountPattern.FindStringSubmatch(text); match != nil {
		if match[2] == "" {
			match[2] = unit
		}
		number, err := strconv.ParseFloat(match[1], 64)
		each, isUnit := secondsOf(match[2])
		if err != nil || !isUnit {
			return "", false
		}
		return strconv.FormatFloat(number*each, 'f', 0, 64), true
	}
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	total, err := strconv.Atoi(days)
	if err != nil || total < 0 {
		return "", false
	}
	parts := strings.Split(clock, ":")
	if len(parts) > 3 || len(parts) < 2 {
		return "", false
	}
	for i, part := range append([]string{"0", "0", "0"}[:3-len(parts)], parts...) {
		number, err := strconv.Atoi(part)
		if err != nil || number < 0 {
			return "", false
		}
		total = total*[]int{24, 60, 60}[i] + number
	}
	return strconv.Itoa(total), true
}

// secondsOf returns the seconds of a unit of time, by its first letter.
func secondsOf(unit string) (float64, bool) {
	switch strings.ToLower(unit + "s")[:1] {
	case "s":
		return 1, true
	case "m":
		return 60, true
	case "h":
		return 3600, true
	case "d":
		return 24 * 3600, true
	}
	return 0, false
}

// Sum adds whole numbers. It returns the first invalid text, if any, instead of a total.
func Sum(texts []string) (total, odd string) {
	sum := 0
	for _, text := range texts {
		number, err := strconv.Atoi(text)
		if err != nil {
			return "", text
		}
		sum += number
	}
	return strconv.Itoa(sum), ""
}
