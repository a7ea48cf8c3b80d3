package rms_test

import (
	"testing"

	"github.com/rmctl/rmctl/cases/casetest"
)

// The recorded outputs of real schedulers, and made-up ones.
const (
	slurmCases = "../testdata/slurm"
	pbsCases   = "../testdata/pbs"
)

func TestSlurmReadsRecordedOutputs(t *testing.T) { casetest.Run(t, slurmCases) }

func TestPBSReadsRecordedOutputs(t *testing.T) { casetest.Run(t, pbsCases) }

func TestFlowsOfRecordedOutputs(t *testing.T) { casetest.Run(t, "../testdata/flows") }
