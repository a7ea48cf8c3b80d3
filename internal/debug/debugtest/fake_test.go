package debugtest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/debugtest"
)

func TestMain(m *testing.M) {
	debugtest.Main()
	os.Exit(m.Run())
}

func TestFakeRunsToMainAndExits(t *testing.T) {
	path, err := debugtest.Debugger(t.TempDir(), "different")
	require.NoError(t, err)
	command := exec.Command(path, "-iex", "set $rank = 3")
	command.Stdin = strings.NewReader("1-target-attach 0\n2-break-insert -f -t --function \"main\"\n3-exec-continue\n4-data-evaluate-expression \"x\"\n5-exec-next\n6-interpreter-exec console \"whatis x\"\n7-exec-continue\n8-exec-continue\n")
	output, err := command.Output()
	require.NoError(t, err)
	records := strings.ReplaceAll(string(output), "(gdb) \n", "")
	require.Equal(t, `1^done
*stopped,frame={addr="0x1000",func="_start",args=[],from="/lib/ld-fake.so"},thread-id="1",stopped-threads="all"
2^done,bkpt={number="1",type="breakpoint",disp="keep",enabled="y",addr="0x2000",func="main",file="main.c",fullname="/fake/main.c",line="10",times="0"}
3^running
*running,thread-id="all"
*stopped,reason="breakpoint-hit",bkptno="1",frame={level="0",addr="0x2000",func="main",args=[],file="main.c",fullname="/fake/main.c",line="310"},thread-id="1",stopped-threads="all"
4^done,value="13"
5^running
*running,thread-id="all"
*stopped,reason="end-stepping-range",frame={level="0",addr="0x2000",func="main",args=[],file="main.c",fullname="/fake/main.c",line="311"},thread-id="1",stopped-threads="all"
~"type = int\n"
6^done
7^running
*running,thread-id="all"
=thread-group-exited,id="i1"
*stopped,reason="exited-normally"
8^error,msg="The program is not being run."
`, records)
}
