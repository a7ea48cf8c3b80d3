package openssh_test

import (
	"testing"

	"github.com/rmctl/rmctl/internal/remotetest"
)

func TestMain(m *testing.M) { remotetest.Main(m) }
