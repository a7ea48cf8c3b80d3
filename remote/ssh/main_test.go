package ssh

import (
	"testing"

	"github.com/rmctl/rmctl/internal/remotetest"
)

func TestMain(m *testing.M) { remotetest.Main(m) }
