package doctor

import (
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
)

// findVersion searches the standard output and then the standard error of a command for the
// expression of an x:probe. It returns the matched text and its first group, which may be
// empty. An expression that does not compile, or takes too long, finds nothing.
func findVersion(x *config.Expression, result *command.Result) (whole, version string, found bool) {
	expression, err := javaregex.Compile(x.Text, x.Flags)
	if err != nil {
		return "", "", false
	}
	for _, text := range []string{result.Stdout, result.Stderr} {
		groups, matched, err := expression.Find(nil, []byte(text), 0)
		if err != nil || !matched {
			continue
		}
		if len(groups) >= 4 && groups[2] >= 0 {
			version = text[groups[2]:groups[3]]
		}
		return text[groups[0]:groups[1]], version, true
	}
	return "", "", false
}
