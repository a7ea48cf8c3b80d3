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
	script     TEXT NOT NULL,
	request    TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE sessions (
	target  TEXT NOT NULL PRIMARY KEY,
	started TEXT NOT NULL,
	state   TEXT NOT NULL,
	data    BLOB NOT NULL
) STRICT;
PRAGMA user_version = 2;
INSERT INTO jobs (tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive,
	detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence,
	stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished)
VALUES ('old', 'big', 'slurm', 'local', '4711', '', 'simulation', 'normal', 'alice', '/home/alice', 'SUBMITTED', 0,
	'RUNNING', 'R', 'None', NULL, NULL, 'n1', '', '', '', '2026-05-04T12:00:00.123456789Z', '2026-05-04T12:01:00.000000000Z',
	'get-job-status', '4711 R', 0, '', 0, '', 0, '/out', '/err', '', 0);
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('old', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', '');
INSERT INTO sessions (target, started, state, data)
VALUES ('big', '2026-05-04T12:00:00.000000000Z', 'STARTED', CAST('{}' AS BLOB));
