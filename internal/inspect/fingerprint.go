package inspect

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/rmctl/rmctl/config"
)

// Fingerprint identifies the text of a definition and its bases, and the variables of its
// commands, including those of the target.
func Fingerprint(definition *config.Definition) string {
	sum := sha256.New()
	for _, source := range definition.Sources {
		sum.Write(source)
		sum.Write([]byte{0})
	}
	for _, variable := range definition.Environment {
		sum.Write([]byte(variable.Name + "=" + variable.Value.Text + "\x00"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
