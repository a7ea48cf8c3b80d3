package reader

import (
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// captures returns the folder with recorded output of real schedulers. It skips the test if the folder is
// missing.
func captures(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join("..", "..", "..", "shared")), "captures")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the outputs of real schedulers are not here (%v); RMCTL_SHARED names the folder that holds them", err)
	}
	return folder
}

// captured returns the command and output of a capture.
func captured(t *testing.T, folder string) (command, output string) {
	t.Helper()
	line, err := os.ReadFile(filepath.Join(folder, "cmd"))
	require.NoError(t, err)
	if text, err := os.ReadFile(filepath.Join(folder, "stdout")); err == nil {
		return string(line), string(text)
	}
	file, err := os.Open(filepath.Join(folder, "stdout.gz"))
	require.NoError(t, err)
	defer file.Close()
	reader, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	return string(line), string(text)
}

// readCapture reads a captured output.
func readCapture(t *testing.T, output string, definitions ...*config.Source) []*Record {
	t.Helper()
	records, err := textTest{definitions: definitions}.read(t, output, 1000)
	require.NoError(t, err)
	requireParts(t, output, records)
	return records
}

// numbered returns a table with the mark and numbered columns.
func numbered(columns int) *config.Source {
	definition := &config.Source{Kind: config.Table, Separator: config.MarkSeparator}
	for i := range columns {
		definition.Columns = append(definition.Columns, "c"+strconv.Itoa(i))
	}
	return definition
}

// isForged reports whether the name of a job contains the mark, which its owner knew.
func isForged(record *Record) bool {
	return strings.Contains(record.Raw, "mk"+testMark+"x") || strings.Contains(record.Raw, "held\n99"+testMark)
}

func TestMarkedRowsOfSlurmAreFound(t *testing.T) {
	folder := captures(t)
	id := regexp.MustCompile(`^\d+([_+](\d+|\[[\d,%-]+\]))?$`)
	rows := 0
	for _, name := range []string{
		"squeue-O-mark-exit-code", "squeue-O-mark-live", "squeue-O-array-live", "squeue-O-array-live-r",
		"squeue-O-cancelled", "squeue-O-timeout", "squeue-o-mark-live", "squeue-o-mark-live-r",
	} {
		command, output := captured(t, filepath.Join(folder, "slurm-accounting", name))
		columns := strings.Count(command, testMark)
		records := readCapture(t, output, numbered(columns))
		require.NotEmpty(t, records, name)
		marks := columns * len(records)
		for _, record := range records {
			require.Regexp(t, id, record.Root.Child("c0").Text, name)
			if isForged(record) {
				require.Equal(t, damageColumns(columns+1, columns), record.Damage)
				marks++
				continue
			}
			require.Empty(t, record.Damage, name)
		}
		require.Equal(t, strings.Count(output, testMark), marks, name)
		rows += len(records)
	}
	require.Greater(t, rows, 100)

	_, output := captured(t, filepath.Join(folder, "slurm-accounting", "sacct-parsable-mark"))
	records := readCapture(t, output, numbered(15))
	require.Len(t, records, 35)
	for _, record := range records {
		require.Equal(t, isForged(record), record.Damage != "", "%s", record.Raw)
	}
}

// Without a mark after the last column, rows of sacct cannot be distinguished from texts.
func TestRowsOfSacctWithoutALastMarkAreUnusable(t *testing.T) {
	folder := captures(t)
	for name, columns := range map[string]int{"sacct-odd-names": 4, "sacct-held-newline-name": 10, "sacct-parsable2-mark": 15} {
		_, output := captured(t, filepath.Join(folder, "slurm-accounting", name))
		for _, record := range readCapture(t, output, numbered(columns)) {
			require.True(t, isForged(record) || record.Damage != "", name)
			require.NotContains(t, show([]*Record{record})[0], `c0="99"`)
		}
	}
}

func TestOddNamesOfSlurmForgeNothing(t *testing.T) {
	_, output := captured(t, filepath.Join(captures(t), "slurm-accounting", "squeue-o-mark-live"))
	var names []string
	for _, record := range readCapture(t, output, numbered(17)) {
		names = append(names, record.Root.Child("c16").Text)
	}
	require.Contains(t, names, "nl1\nnl2")
	require.Contains(t, names, "a|b|c")
	require.Contains(t, names, "  two  blanks ")
}

func TestStanzasOfScontrolAreFound(t *testing.T) {
	folder := captures(t)
	_, output := captured(t, filepath.Join(folder, "slurm", "scontrol-show-job-all"))
	records := readCapture(t, output, scontrolStanzas())
	require.Len(t, records, strings.Count("\n"+output, "\nJobId="))
	for _, record := range records {
		require.Empty(t, record.Damage)
		for _, name := range strings.Fields("JobId JobName JobState ExitCode SubmitTime StartTime Partition NodeList StdOut AllocNode_Sid") {
			require.True(t, record.Has(name), name)
		}
	}
	require.Equal(t, "timeout job", records[0].Root.Child("JobName").Text)

	_, output = captured(t, filepath.Join(folder, "slurm", "scontrol-show-node"))
	nodes := scontrolStanzas()
	nodes.Begin = pattern(`NodeName=`)
	for _, record := range readCapture(t, output, nodes) {
		require.Empty(t, record.Damage)
		require.True(t, record.Has("NodeName") && record.Has("State"))
	}
}

func TestStanzasOfQstatAreFound(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(captures(t), "openpbs", "qstat-*f*"))
	require.NoError(t, err)
	found := 0
	for _, folder := range folders {
		command, output := captured(t, folder)
		if !strings.HasPrefix(output, "Job Id: ") || strings.Contains(command, "dsv") {
			continue
		}
		definition := foldedStanzas()
		if strings.Contains(command, "-w") {
			definition = qstatStanzas()
		}
		records := readCapture(t, output, definition)
		require.Len(t, records, strings.Count("\n"+output, "\nJob Id: "), command)
		for _, record := range records {
			require.Empty(t, record.Damage, command)
			require.True(t, record.Has("job_state"), "%s: %s", command, record.Raw)
			require.Regexp(t, `^[QRHSWTEBXF]$`, record.Root.Child("job_state").Text, command)
			require.Regexp(t, `^\d+(\[\d*\])?\.pbs01$`, record.Root.Child("id").Text, command)
		}
		found += len(records)
	}
	require.Greater(t, found, 1000)
}

func TestFoldedStanzasOfQstatSayTheSame(t *testing.T) {
	folder := filepath.Join(captures(t), "openpbs")
	_, wide := captured(t, filepath.Join(folder, "qstat-fw-odd-env"))
	_, folded := captured(t, filepath.Join(folder, "qstat-f-odd-env"))
	one, other := readCapture(t, wide, qstatStanzas()), readCapture(t, folded, foldedStanzas())
	require.Len(t, one, 1)
	require.Len(t, other, 1)
	last := other[0].Root.Children[len(other[0].Root.Children)-1]
	require.Equal(t, "Variable_List", last.Name)
	for _, field := range other[0].Root.Children[:len(other[0].Root.Children)-1] {
		require.Equal(t, one[0].Root.Child(field.Name).Text, field.Text)
	}
	require.True(t, strings.HasPrefix(one[0].Root.Child("Variable_List").Text, strings.TrimSuffix(last.Text, "ODD_TAB=a\tb,ODD_NL=line1")))
	require.Equal(t, "_pbs_project_default", one[0].Root.Child("project").Text)
}

func TestStanzasOfQacctAreFound(t *testing.T) {
	_, output := captured(t, filepath.Join(captures(t), "gridengine", "qacct-j-all"))
	records := readCapture(t, output, &config.Source{Kind: config.Stanzas, Begin: pattern(`={62}$`), Field: pattern(`(\w+) +(.*)`)})
	require.Len(t, records, strings.Count(output, "\nqname "))
	for _, record := range records {
		require.Empty(t, record.Damage)
		require.True(t, record.Has("jobnumber") && record.Has("failed") && record.Has("exit_status"))
	}
}
