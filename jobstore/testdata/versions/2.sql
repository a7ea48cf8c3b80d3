CREATE TABLE jobs (
	sequence      INTEGER PRIMARY KEY AUTOINCREMENT,
	tag           TEXT NOT NULL UNIQUE,
	target        TEXT NOT NULL,
	definition    TEXT NOT NULL,
	connection    TEXT NOT NULL,
	id            TEXT NOT NULL,
	short_id      TEXT NOT NULL,
	name          TEXT NOT NULL,
	queue         TEXT NOT NULL,
	owner         TEXT NOT NULL,
	directory     TEXT NOT NULL,
	phase         TEXT NOT NULL,
	interactive   INTEGER NOT NULL,
	detail        TEXT NOT NULL,
	native        TEXT NOT NULL,
	reason        TEXT NOT NULL,
	exit_code     INTEGER,
	signal        INTEGER,
	nodes         TEXT NOT NULL,
	submitted     TEXT NOT NULL,
	started       TEXT NOT NULL,
	ended         TEXT NOT NULL,
	created       TEXT NOT NULL,
	observed      TEXT NOT NULL,
	source        TEXT NOT NULL,
	evidence      TEXT NOT NULL,
	stale         INTEGER NOT NULL,
	stale_reason  TEXT NOT NULL,
	missing       INTEGER NOT NULL,
	missing_since TEXT NOT NULL,
	missing_count INTEGER NOT NULL,
	output_path   TEXT NOT NULL,
	error_path    TEXT NOT NULL,
	error         TEXT NOT NULL,
	finished      INTEGER NOT NULL
	) STRICT;
CREATE INDEX jobs_by_id ON jobs (id) WHERE id <> '';
CREATE INDEX jobs_by_short_id ON jobs (short_id) WHERE short_id <> '';
CREATE INDEX jobs_by_age ON jobs (created, sequence);
CREATE INDEX jobs_unfinished ON jobs (created, sequence) WHERE finished = 0;
CREATE TABLE submissions (
	tag        TEXT NOT NULL PRIMARY KEY,
	attributes TEXT NOT NULL,
	arguments  TEXT NOT NULL,
	script     TEXT NOT NULL
	, request TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE sessions (
	target  TEXT NOT NULL PRIMARY KEY,
	started TEXT NOT NULL,
	state   TEXT NOT NULL,
	data    BLOB NOT NULL
	) STRICT;
PRAGMA user_version = 2;
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (1, 'old', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4711', 's4711', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'RUNNING', 'R', 'None', NULL, NULL, 'n1', '10:00', '11:00', '', '2026-05-04T12:00:00.123456789Z', '2026-05-04T12:01:00.123456789Z', 'get-job-status', CAST(x'4a6f6249643d343731310a2020204a6f6253746174653d52554e4e494e4720526561736f6e3d4e6f6e6520ffe282ac0a' AS TEXT), 0, '', 0, '', 0, '/out', '/err', '', 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (2, 'ended', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4712', 's4712', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'FAILED', 'TIMEOUT', 'it took too long', 3, 15, '', '', '', '12:00', '2026-05-04T12:00:01.123456789Z', '2026-05-04T13:00:00.123456789Z', 'sacct', 'TIMEOUT', 0, '', 0, '', 0, '/out', '/err', '', 1);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (3, 'stale', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4713', 's4713', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'SUBMITTED', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:02.123456789Z', '2026-05-04T12:00:03.123456789Z', 'submit', 'Submitted batch job 4713
', 1, 'Unable to contact slurm controller', 0, '', 0, '/out', '/err', '', 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (4, 'missing', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4714', 's4714', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'SUBMITTED', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:03.123456789Z', '2026-05-04T12:00:04.123456789Z', 'submit', 'Submitted batch job 4714
', 0, '', 1, '2026-05-04T13:00:00.123456789Z', 2, '/out', '/err', '', 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (5, 'rejected', 'big', 'slurm', 'big@ssh:alice@login.example.org', '', '', 'simulation', 'normal', 'alice', '/home/alice/run', 'REJECTED', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:04.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', 'Invalid account', 1);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (6, 'unknown', 'big', 'slurm', 'big@ssh:alice@login.example.org', '', '', 'simulation', 'normal', 'alice', '/home/alice/run', 'UNKNOWN', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:05.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', 'timed out', 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (7, 'intended', 'big', 'slurm', 'big@ssh:alice@login.example.org', '', '', 'simulation', 'normal', 'alice', '/home/alice/run', 'INTENDED', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:06.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', '', 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES (8, 'adopted', 'other', '', '', '9.server', '9', '', '', '', '', 'SUBMITTED', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:07.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', '', 0);
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('old', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('ended', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('stale', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('missing', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('rejected', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('unknown', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('intended', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('adopted', '[]', '[]', '', '');
INSERT INTO sessions (target, started, state, data)
VALUES ('big', '2026-05-04T12:00:00.123456789Z', 'STARTED', x'7b7d');
