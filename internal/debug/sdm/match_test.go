package sdm

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzMatches compares with the regular expressions that define the functions.
func FuzzMatches(f *testing.F) {
	qualifiers := regexp.MustCompile(`\b(const|volatile|restrict|static|mut)\b ?`)
	sizedName := regexp.MustCompile(`^(u?)_*(int|uint|i|u|f|float)_?(?:fast|least)?(8|16|32|64)(?:_t)?$`)
	fortran := regexp.MustCompile(`^(integer|real|logical|character)\(kind=([0-9]+)\)$`)
	arrayEnd := regexp.MustCompile(`\[[0-9]*\]$`)
	charText := regexp.MustCompile(`^-?[0-9]+ '`)
	floatText := regexp.MustCompile(`^-?([0-9]+\.?[0-9]*(e[-+]?[0-9]+)?|inf|nan(\(0x[0-9a-f]+\))?)$`)
	for _, text := range []string{"const char *const", "static_ mut x", "uint_fast32_t", "u8", "uu8", "__int64", "u__int16", "f32", "uf64", "float16", "int_least_8", "uint8fast",
		"integer(kind=4)", "real(kind=x)", "character(kind=)", "int [5]", "int[]", "int[3][4]", "x[a]", "]", "97 'a'", "-1 '", "1.", ".5", "-1.5e+10", "1e", "1e+", "inf", "nan(0x8)", "nan(0x)", "-nan"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		require.Equal(t, qualifiers.ReplaceAllString(text, ""), withoutQualifiers(text))
		words := sizedName.FindStringSubmatch(text)
		found, isSized := sizedOf(text)
		require.Equal(t, words != nil, isSized)
		if isSized {
			require.Equal(t, words[3], strconv.Itoa(found.bits))
			require.Equal(t, strings.HasPrefix(words[2], "f"), found.isFloat)
			require.Equal(t, words[1] != "" || strings.HasPrefix(words[2], "u"), found.isUnsigned)
		}
		words = fortran.FindStringSubmatch(text)
		word, size, isFortran := fortranOf(text)
		require.Equal(t, words != nil, isFortran)
		if isFortran {
			wanted, _ := strconv.Atoi(words[2])
			require.Equal(t, words[1], word)
			require.Equal(t, wanted, size)
		}
		rest, isArray := withoutArrayEnd(text)
		require.Equal(t, arrayEnd.MatchString(text), isArray)
		require.Equal(t, arrayEnd.ReplaceAllString(text, ""), rest)
		require.Equal(t, charText.MatchString(text), isCharText(text))
		require.Equal(t, floatText.MatchString(text), isFloatText(text))
	})
}
