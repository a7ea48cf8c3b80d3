package clusters_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// couplesPrograms runs unmodified third-party programs over Slurm and Grid Engine.
func couplesPrograms(t *testing.T, both schedulers) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, v venue){
		"Dask computes with a scheduler and workers of two schedulers": runsDask,
		"MPI worlds of two schedulers connect":                         connectsWorlds,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, venue{rmctltest.NewDesk(t, "", both.settings()...), "slurm", "gridengine", "local", ""})
		})
	}
}

// released submits a request and returns the output of its parts, which must all succeed.
func (v venue) released(t *testing.T, request string) string {
	t.Helper()
	id := v.desk.Does("coalloc", "submit", "--commit", v.request(t, request))
	_, stderr, code := runsWithout(t, v.desk, nil, false, "coalloc", "wait", id)
	output := v.output(t, id)
	require.Zero(t, code, "%s%s", stderr, output)
	return output
}

// computing is a client of Dask.
const computing = `import sys
from distributed import Client
client = Client(scheduler_file=sys.argv[1])
client.wait_for_workers(2)
print("sum", client.submit(sum, client.map(lambda x: x * x, range(100))).result())
client.shutdown()
`

func runsDask(t *testing.T, v venue) {
	file := filepath.Join(v.desk.Home, "scheduler.json")
	output := v.released(t, v.running("scheduler", v.slurm, "/usr/bin/dask-scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file)+
		v.running("workers", v.gridEngine, "/usr/bin/dask-worker", "--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--local-directory", v.desk.Home, "--scheduler-file", file)+
		v.running("client", v.local, "/usr/bin/python3", "-c", computing, file))
	require.Contains(t, output, "sum 328350")
}

// The worlds know nothing of each other but the file with the port. RMCTL_MPICH_PORTS names a folder with bin/mpiexec of an
// MPICH that can open ports, which that of Debian cannot, and testconnect, a program of MPICH's own tests.
func connectsWorlds(t *testing.T, v venue) {
	folder := os.Getenv("RMCTL_MPICH_PORTS")
	if folder == "" {
		t.Skip("needs an MPICH that can open ports: RMCTL_MPICH_PORTS names its folder, with testconnect of its tests")
	}
	port := filepath.Join(v.desk.Home, "port")
	world := func(number int) string {
		return fmt.Sprintf("exec %s/bin/mpiexec -launcher fork -hosts localhost -n 1 %s/testconnect %s 2 %d", folder, folder, port, number)
	}
	output := v.released(t, v.running("west", v.slurm, "sh", "-c", world(0))+
		v.running("east", v.gridEngine, "sh", "-c", fmt.Sprintf("until test -s %s; do sleep 0.1; done; %s", port, world(1))))
	require.Contains(t, output, "[0] Size of comm is 2")
	require.Contains(t, output, "[1] connect-side: intercomm merge complete")
}
