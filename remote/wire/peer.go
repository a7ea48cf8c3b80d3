package wire

import (
	"fmt"
	"os"
)

// checkUser refuses any user but this one: root, too, has no business here.
func checkUser(user int) error {
	if own := os.Geteuid(); user != own {
		return fmt.Errorf("the process at the other end runs as user %d, not as %d", user, own)
	}
	return nil
}
