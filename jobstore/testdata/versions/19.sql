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
	, stale_since TEXT NOT NULL DEFAULT '', successor TEXT NOT NULL DEFAULT '', submitter TEXT NOT NULL DEFAULT '', identity TEXT NOT NULL DEFAULT '', origin_stream TEXT NOT NULL DEFAULT '', origin_line INTEGER NOT NULL DEFAULT 0, origin_text TEXT NOT NULL DEFAULT '', irregular TEXT NOT NULL DEFAULT '', hosted INTEGER NOT NULL DEFAULT 0, undated INTEGER NOT NULL DEFAULT 0) STRICT;
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
CREATE TABLE events (
	sequence  INTEGER PRIMARY KEY AUTOINCREMENT,
	tag       TEXT NOT NULL,
	target    TEXT NOT NULL,
	id        TEXT NOT NULL,
	kind      TEXT NOT NULL,
	before    TEXT NOT NULL,
	detail    TEXT NOT NULL,
	native    TEXT NOT NULL,
	reason    TEXT NOT NULL,
	exit_code INTEGER,
	signal    INTEGER,
	seen      TEXT NOT NULL,
	recorded  TEXT NOT NULL,
	source    TEXT NOT NULL,
	evidence  TEXT NOT NULL
	, origin_stream TEXT NOT NULL DEFAULT '', origin_line INTEGER NOT NULL DEFAULT 0, origin_text TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX events_by_tag ON events (tag, sequence);
CREATE TABLE polls_past (
	key    TEXT NOT NULL,
	begun  TEXT NOT NULL,
	took   INTEGER NOT NULL,
	jobs   INTEGER NOT NULL,
	failed INTEGER NOT NULL
	, kind TEXT NOT NULL DEFAULT 'own-jobs') STRICT;
CREATE TABLE staged (
	tag  TEXT NOT NULL,
	path TEXT NOT NULL, stays INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (tag, path)
	) STRICT;
CREATE TABLE sightings (
	job      INTEGER PRIMARY KEY,
	observed TEXT NOT NULL,
	seen     TEXT NOT NULL
	) STRICT;
CREATE INDEX jobs_missing ON jobs (target, sequence) WHERE missing = 1 AND finished = 0;
CREATE TABLE processes (
	tag       TEXT NOT NULL,
	rank      INTEGER NOT NULL,
	node      TEXT NOT NULL,
	pid       INTEGER NOT NULL,
	state     TEXT NOT NULL,
	exit_code INTEGER,
	signal    INTEGER,
	output    TEXT NOT NULL,
	PRIMARY KEY (tag, rank)
	) STRICT;
CREATE TABLE polls (
	kind     TEXT NOT NULL,
	key      TEXT NOT NULL,
	holder   TEXT NOT NULL,
	held     TEXT NOT NULL,
	until    TEXT NOT NULL,
	begun    TEXT NOT NULL,
	took     INTEGER NOT NULL,
	jobs     INTEGER NOT NULL,
	changed  TEXT NOT NULL,
	failures INTEGER NOT NULL,
	error    TEXT NOT NULL,
	paused   TEXT NOT NULL,
	PRIMARY KEY (kind, key)
	) STRICT;
CREATE TABLE poll_targets (
	kind   TEXT NOT NULL,
	target TEXT NOT NULL,
	key    TEXT NOT NULL,
	PRIMARY KEY (kind, target)
	) STRICT;
CREATE INDEX poll_targets_by_key ON poll_targets (kind, key);
CREATE INDEX polls_past_by_age ON polls_past (kind, key, begun);
CREATE TABLE listings (
	number         INTEGER PRIMARY KEY,
	kind           TEXT NOT NULL,
	key            TEXT NOT NULL,
	variant        TEXT NOT NULL,
	wanted         TEXT NOT NULL,
	begun          TEXT NOT NULL,
	took           INTEGER NOT NULL,
	chunks         INTEGER NOT NULL,
	rows           INTEGER NOT NULL,
	again          INTEGER NOT NULL,
	not_understood INTEGER NOT NULL,
	UNIQUE (kind, key, variant)
	) STRICT;
CREATE TABLE listing_chunks (
	listing INTEGER NOT NULL,
	begun   TEXT NOT NULL,
	place   INTEGER NOT NULL,
	rows    BLOB NOT NULL,
	PRIMARY KEY (listing, begun, place)
	) STRICT;
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (1, 'old', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4711', 's4711', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'RUNNING', 'R', 'None', NULL, NULL, 'n1', '10:00', '11:00', '', '2026-05-04T12:00:00.123456789Z', '2026-05-04T12:01:00.123456789Z', 'get-job-status', CAST(x'4a6f6249643d343731310a2020204a6f6253746174653d52554e4e494e4720526561736f6e3d4e6f6e6520ffe282ac0a' AS TEXT), 0, '', 0, '', 0, '/out', '/err', '', 0, '', '', '', 'made 10:00', 'stdout', 2, CAST(x'2020204a6f6253746174653d52554e4e494e4720526561736f6e3d4e6f6e6520ffe282ac' AS TEXT), '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (2, 'ended', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4712', 's4712', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'FAILED', 'TIMEOUT', 'it took too long', 3, 15, '', '', '', '12:00', '2026-05-04T12:00:01.123456789Z', '2026-05-04T13:00:00.123456789Z', 'sacct', 'TIMEOUT', 0, '', 0, '', 0, '/out', '/err', '', 1, '', '', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (3, 'stale', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4713', 's4713', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'SUBMITTED', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:02.123456789Z', '2026-05-04T12:00:03.123456789Z', 'submit', 'Submitted batch job 4713
', 1, 'Unable to contact slurm controller', 0, '', 0, '/out', '/err', '', 1, '2026-05-04T13:00:00.123456789Z', 'successor', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (4, 'missing', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4714', 's4714', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'SUBMITTED', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:03.123456789Z', '2026-05-04T12:00:04.123456789Z', 'submit', 'Submitted batch job 4714
', 0, '', 1, '2026-05-04T13:00:00.123456789Z', 2, '/out', '/err', '', 0, '', '', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (5, 'rejected', 'big', 'slurm', 'big@ssh:alice@login.example.org', '', '', 'simulation', 'normal', 'alice', '/home/alice/run', 'REJECTED', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:04.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', 'Invalid account', 1, '', '', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (6, 'unknown', 'big', 'slurm', 'big@ssh:alice@login.example.org', '', '', 'simulation', 'normal', 'alice', '/home/alice/run', 'UNKNOWN', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:05.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', 'timed out', 0, '', '', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (7, 'intended', 'big', 'slurm', 'big@ssh:alice@login.example.org', '', '', 'simulation', 'normal', 'alice', '/home/alice/run', 'INTENDED', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:06.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', '', 0, '', '', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (8, 'adopted', 'other', '', '', '9.server', '9', '', '', '', '', 'SUBMITTED', 0, '', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:07.123456789Z', '', '', '', 0, '', 0, '', 0, '', '', '', 0, '', '', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (9, 'successor', 'big', 'slurm', 'big@ssh:alice@login.example.org', '4713', 's4713', 'simulation', 'normal', 'alice', '/home/alice/run', 'SUBMITTED', 0, 'SUBMITTED', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:08.123456789Z', '2026-05-04T14:00:00.123456789Z', 'submit', 'Submitted batch job 4713
', 0, '', 0, '', 0, '/out', '/err', '', 0, '', '', '', '', '', 0, '', '', 0, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (10, 'attached', 'other', 'slurm', 'other@local:alice@here', '77', '77', '', '', 'alice', '', 'SUBMITTED', 1, 'RUNNING', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:07.123456789Z', '2026-05-04T15:00:00.123456789Z', 'submit', '', 0, '', 0, '', 0, '', '', '', 0, '', '', '4711 99887 here.example.org', '', '', 0, '', '', 1, 0);
INSERT INTO jobs (sequence, tag, target, definition, connection, id, short_id, name, queue, owner, directory, phase, interactive, detail, native, reason, exit_code, signal, nodes, submitted, started, ended, created, observed, source, evidence, stale, stale_reason, missing, missing_since, missing_count, output_path, error_path, error, finished, stale_since, successor, submitter, identity, origin_stream, origin_line, origin_text, irregular, hosted, undated)
VALUES (11, 'lost', 'other', 'slurm', 'other@local:alice@here', '78', '78', '', '', 'alice', '', 'SUBMITTED', 0, 'RUNNING', '', '', NULL, NULL, '', '', '', '', '2026-05-04T12:00:08.123456789Z', '2026-05-04T15:00:00.123456789Z', 'submit', '', 0, '', 0, '', 0, '', '', '', 0, '', '', '4712 99888 here.example.org', '', '', 0, '', '', 0, 1);
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
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('successor', '[{"name":"nodes","integer":4}]', '["sbatch","job.sh"]', '#!/bin/sh', 'executable = 1');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('attached', '[]', '[]', '', '');
INSERT INTO submissions (tag, attributes, arguments, script, request)
VALUES ('lost', '[]', '[]', '', '');
INSERT INTO sessions (target, started, state, data)
VALUES ('big', '2026-05-04T12:00:00.123456789Z', 'STARTED', x'7b7d');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (1, 'old', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:00.123456789Z', '2026-11-22T07:37:04.074257321Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (2, 'old', 'big', '4711', 'accepted', '', 'SUBMITTED', '', '', NULL, NULL, '2026-05-04T12:00:01.123456789Z', '2026-11-22T07:37:04.078299303Z', 'submit', 'Submitted batch job 4711
', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (3, 'old', 'big', '4711', 'state', 'SUBMITTED', 'RUNNING', 'R', 'None', NULL, NULL, '2026-05-04T12:01:00.123456789Z', '2026-11-22T07:37:04.079354963Z', 'get-job-status', CAST(x'4a6f6249643d343731310a2020204a6f6253746174653d52554e4e494e4720526561736f6e3d4e6f6e6520ffe282ac0a' AS TEXT), 'stdout', 2, CAST(x'2020204a6f6253746174653d52554e4e494e4720526561736f6e3d4e6f6e6520ffe282ac' AS TEXT));
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (4, 'ended', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:01.123456789Z', '2026-11-22T07:37:04.079621007Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (5, 'ended', 'big', '4712', 'accepted', '', 'SUBMITTED', '', '', NULL, NULL, '2026-05-04T12:00:02.123456789Z', '2026-11-22T07:37:04.080348049Z', 'submit', 'Submitted batch job 4712
', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (6, 'ended', 'big', '4712', 'state', 'SUBMITTED', 'FAILED', 'TIMEOUT', 'it took too long', 3, 15, '2026-05-04T13:00:00.123456789Z', '2026-11-22T07:37:04.080851461Z', 'sacct', 'TIMEOUT', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (7, 'stale', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:02.123456789Z', '2026-11-22T07:37:04.081011285Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (8, 'stale', 'big', '4713', 'accepted', '', 'SUBMITTED', '', '', NULL, NULL, '2026-05-04T12:00:03.123456789Z', '2026-11-22T07:37:04.081458385Z', 'submit', 'Submitted batch job 4713
', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (9, 'stale', 'big', '4713', 'stale', 'SUBMITTED', 'SUBMITTED', '', 'Unable to contact slurm controller', NULL, NULL, '2026-05-04T13:00:00.123456789Z', '2026-11-22T07:37:04.089445269Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (10, 'missing', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:03.123456789Z', '2026-11-22T07:37:04.089571517Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (11, 'missing', 'big', '4714', 'accepted', '', 'SUBMITTED', '', '', NULL, NULL, '2026-05-04T12:00:04.123456789Z', '2026-11-22T07:37:04.101727308Z', 'submit', 'Submitted batch job 4714
', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (12, 'missing', 'big', '4714', 'missing', 'SUBMITTED', 'SUBMITTED', '', '', NULL, NULL, '2026-05-04T13:00:00.123456789Z', '2026-11-22T07:37:04.102636972Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (13, 'rejected', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:04.123456789Z', '2026-11-22T07:37:04.103035611Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (14, 'rejected', 'big', '', 'rejected', '', '', '', 'Invalid account', NULL, NULL, '2026-11-22T07:37:04.103752325Z', '2026-11-22T07:37:04.103753266Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (15, 'unknown', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:05.123456789Z', '2026-11-22T07:37:04.104399646Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (16, 'unknown', 'big', '', 'doubted', '', '', '', 'timed out', NULL, NULL, '2026-11-22T07:37:04.105057270Z', '2026-11-22T07:37:04.105058491Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (17, 'intended', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:06.123456789Z', '2026-11-22T07:37:04.105577332Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (18, 'adopted', 'other', '9.server', 'adopted', '', '', '', '', NULL, NULL, '2026-05-04T12:00:07.123456789Z', '2026-11-22T07:37:04.106573702Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (19, 'successor', 'big', '', 'intended', '', '', '', '', NULL, NULL, '2026-05-04T12:00:08.123456789Z', '2026-11-22T07:37:04.107788441Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (20, 'stale', 'big', '4713', 'succeeded', '', '', '', 'the scheduler gave its id to submission successor', NULL, NULL, '2026-05-04T14:00:00.123456789Z', '2026-11-22T07:37:04.108781085Z', '', '', '', 0, '');
INSERT INTO events (sequence, tag, target, id, kind, before, detail, native, reason, exit_code, signal, seen, recorded, source, evidence, origin_stream, origin_line, origin_text)
VALUES (21, 'successor', 'big', '4713', 'accepted', '', 'SUBMITTED', '', '', NULL, NULL, '2026-05-04T14:00:00.123456789Z', '2026-11-22T07:37:04.108851009Z', 'submit', 'Submitted batch job 4713
', '', 0, '');
INSERT INTO polls_past (key, begun, took, jobs, failed, kind)
VALUES ('big@ssh:alice@login.example.org', '2026-05-04T12:00:00.123456789Z', 1000000000, 3, 1, 'own-jobs');
INSERT INTO polls_past (key, begun, took, jobs, failed, kind)
VALUES ('local:alice@here by slurm 0123456789abcdef', '2026-05-04T15:00:00.123456789Z', 2000000000, 7, 0, 'own-jobs');
INSERT INTO polls_past (key, begun, took, jobs, failed, kind)
VALUES ('local:alice@here by slurm 0123456789abcdef', '2026-05-04T15:00:00.123456789Z', 2000000000, 7, 0, 'list-jobs');
INSERT INTO polls_past (key, begun, took, jobs, failed, kind)
VALUES ('local:alice@here by slurm 0123456789abcdef', '2026-05-04T15:00:00.123456789Z', 2000000000, 7, 0, 'list-nodes');
INSERT INTO staged (tag, path, stays)
VALUES ('old', '/home/alice/.eclipsesettings/script', 0);
INSERT INTO sightings (job, observed, seen)
VALUES (1, '2026-05-04T12:01:00.123456789Z', '2026-05-04T16:00:00.000000000Z');
INSERT INTO processes (tag, rank, node, pid, state, exit_code, signal, output)
VALUES ('old', 0, 'n1', 17, 'RUNNING', NULL, NULL, '');
INSERT INTO processes (tag, rank, node, pid, state, exit_code, signal, output)
VALUES ('old', 1, 'n2', 0, 'EXITED', 3, NULL, 'done');
INSERT INTO polls (kind, key, holder, held, until, begun, took, jobs, changed, failures, error, paused)
VALUES ('own-jobs', 'big@ssh:alice@login.example.org', '', '2026-05-04T12:00:00.123456789Z', '2026-05-04T12:01:00.123456789Z', '2026-05-04T12:00:00.123456789Z', 1000000000, 3, '2026-05-04T12:00:00.123456789Z', 1, 'down', '');
INSERT INTO polls (kind, key, holder, held, until, begun, took, jobs, changed, failures, error, paused)
VALUES ('own-jobs', 'local:alice@here by slurm 0123456789abcdef', '', '2026-05-04T15:00:00.123456789Z', '2026-05-04T15:01:00.123456789Z', '2026-05-04T15:00:00.123456789Z', 2000000000, 7, '2026-05-04T15:00:00.123456789Z', 0, '', '');
INSERT INTO polls (kind, key, holder, held, until, begun, took, jobs, changed, failures, error, paused)
VALUES ('list-jobs', 'local:alice@here by slurm 0123456789abcdef', '', '2026-05-04T15:00:00.123456789Z', '2026-05-04T15:01:00.123456789Z', '2026-05-04T15:00:00.123456789Z', 2000000000, 7, '2026-05-04T15:00:00.123456789Z', 0, '', '');
INSERT INTO polls (kind, key, holder, held, until, begun, took, jobs, changed, failures, error, paused)
VALUES ('list-nodes', 'local:alice@here by slurm 0123456789abcdef', '', '2026-05-04T15:00:00.123456789Z', '2026-05-04T15:01:00.123456789Z', '2026-05-04T15:00:00.123456789Z', 2000000000, 7, '2026-05-04T15:00:00.123456789Z', 0, '', '');
INSERT INTO poll_targets (kind, target, key)
VALUES ('own-jobs', 'big', 'big@ssh:alice@login.example.org');
INSERT INTO poll_targets (kind, target, key)
VALUES ('own-jobs', 'other', 'local:alice@here by slurm 0123456789abcdef');
INSERT INTO poll_targets (kind, target, key)
VALUES ('list-jobs', 'other', 'local:alice@here by slurm 0123456789abcdef');
INSERT INTO poll_targets (kind, target, key)
VALUES ('list-nodes', 'third', 'local:alice@here by slurm 0123456789abcdef');
INSERT INTO poll_targets (kind, target, key)
VALUES ('own-jobs', 'third', 'local:alice@here by slurm 0123456789abcdef');
INSERT INTO poll_targets (kind, target, key)
VALUES ('list-jobs', 'third', 'local:alice@here by slurm 0123456789abcdef');
INSERT INTO listings (number, kind, key, variant, wanted, begun, took, chunks, rows, again, not_understood)
VALUES (1, 'list-nodes', 'local:alice@here by slurm 0123456789abcdef', 'null', '2026-05-04T15:01:00.123456789Z', '2026-05-04T15:00:00.123456789Z', 2000000000, 1, 1, 0, 1);
INSERT INTO listing_chunks (listing, begun, place, rows)
VALUES (1, '2026-05-04T15:00:00.123456789Z', 0, x'0102');
CREATE TABLE not_understood (
	target     TEXT NOT NULL,
	command    TEXT NOT NULL,
	definition TEXT NOT NULL,
	count      INTEGER NOT NULL,
	seen       TEXT NOT NULL,
	job        TEXT NOT NULL,
	at         TEXT NOT NULL,
	PRIMARY KEY (target, command)
) STRICT;
INSERT INTO not_understood (target, command, definition, count, seen, job, at)
VALUES ('big', 'get-job-status:status', 'f00d', 1, 'NEW_WORD', '4711', '2026-05-04T12:00:00.123456789Z');
ALTER TABLE jobs ADD COLUMN tasks TEXT NOT NULL DEFAULT '';
UPDATE jobs SET tasks = 'of=made 10:00;RUNNING:3-5' WHERE tag = 'old';
ALTER TABLE jobs ADD COLUMN canceled TEXT NOT NULL DEFAULT '';
UPDATE jobs SET canceled = '2026-05-04T12:00:00.123456789Z' WHERE tag = 'adopted';
ALTER TABLE jobs ADD COLUMN brief_sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE jobs ADD COLUMN listed_sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE jobs ADD COLUMN full_sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE submissions ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE events ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE sightings ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE staged ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE processes ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE processes ADD COLUMN output_sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE sessions ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE listing_chunks ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
UPDATE processes SET sum = 2816017846, output_sum = 96262828 WHERE tag = 'old' AND rank = 1;
ALTER TABLE processes ADD COLUMN error_output TEXT NOT NULL DEFAULT '';
ALTER TABLE processes ADD COLUMN error_sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE processes ADD COLUMN ends_sum INTEGER NOT NULL DEFAULT -1;
CREATE TABLE tracked (
	tag       TEXT NOT NULL PRIMARY KEY,
	target    TEXT NOT NULL,
	directory TEXT NOT NULL,
	read      TEXT NOT NULL,
	final     INTEGER NOT NULL,
	sum       INTEGER NOT NULL
) STRICT;
CREATE INDEX tracked_unread ON tracked (target) WHERE final = 0;
INSERT INTO tracked VALUES ('old', 'big', '/home/alice/run', '', 0, -1);
CREATE TABLE ensembles (
	id             TEXT NOT NULL PRIMARY KEY,
	document       TEXT NOT NULL,
	name           TEXT NOT NULL,
	at             TEXT NOT NULL,
	hold_first     INTEGER NOT NULL,
	commit_limit   INTEGER NOT NULL,
	sets           TEXT NOT NULL,
	state          TEXT NOT NULL,
	outcome        TEXT NOT NULL,
	reason         TEXT NOT NULL,
	committed      INTEGER NOT NULL,
	commit_now     INTEGER NOT NULL,
	holds_released INTEGER NOT NULL,
	serials        INTEGER NOT NULL,
	notices        INTEGER NOT NULL,
	extended       INTEGER NOT NULL,
	created        TEXT NOT NULL,
	started        TEXT NOT NULL,
	released       TEXT NOT NULL,
	ended          TEXT NOT NULL,
	sum            INTEGER NOT NULL,
	document_sum   INTEGER NOT NULL
) STRICT;
CREATE TABLE ensemble_parts (
	ensemble       TEXT NOT NULL,
	serial         INTEGER NOT NULL,
	document       TEXT NOT NULL,
	place          INTEGER NOT NULL,
	label          TEXT NOT NULL,
	target         TEXT NOT NULL,
	tag            TEXT NOT NULL,
	kind           TEXT NOT NULL,
	gate           TEXT NOT NULL,
	count          INTEGER NOT NULL,
	start_limit    INTEGER NOT NULL,
	check_in_limit INTEGER NOT NULL,
	wall_time      INTEGER NOT NULL,
	state          TEXT NOT NULL,
	reason         TEXT NOT NULL,
	job            TEXT NOT NULL,
	incarnation    INTEGER NOT NULL,
	attempted      INTEGER NOT NULL,
	held           INTEGER NOT NULL,
	unconfirmed    INTEGER NOT NULL,
	exit_code      INTEGER,
	signal         INTEGER,
	extended       INTEGER NOT NULL,
	submitted      TEXT NOT NULL,
	active         TEXT NOT NULL,
	arrived        TEXT NOT NULL,
	released       TEXT NOT NULL,
	ended          TEXT NOT NULL,
	canceled       TEXT NOT NULL,
	sum            INTEGER NOT NULL,
	document_sum   INTEGER NOT NULL,
	PRIMARY KEY (ensemble, serial)
) STRICT;
CREATE INDEX ensemble_parts_by_tag ON ensemble_parts (tag);
CREATE TABLE ensemble_releases (
	ensemble    TEXT NOT NULL,
	serial      INTEGER NOT NULL,
	incarnation INTEGER NOT NULL,
	instances   TEXT NOT NULL,
	at          TEXT NOT NULL,
	sum         INTEGER NOT NULL,
	PRIMARY KEY (ensemble, serial, incarnation)
) STRICT;
CREATE TABLE ensemble_events (
	ensemble TEXT NOT NULL,
	sequence INTEGER NOT NULL,
	at       TEXT NOT NULL,
	kind     TEXT NOT NULL,
	label    TEXT NOT NULL,
	state    TEXT NOT NULL,
	text     TEXT NOT NULL,
	sum      INTEGER NOT NULL,
	PRIMARY KEY (ensemble, sequence)
) STRICT;
INSERT INTO ensembles VALUES('4f1c2a7e5b0f',replace('name = "coupled"\n','\n',char(10)),'coupled','big',1,3600000000000,'[{"Labels":["a","b"],"AtLeast":1}]','WAITING','FAILED','why',1,1,1,1,0,60000000000,'2026-05-04T12:00:00.123456789Z','2026-05-04T12:00:00.123456790Z','','2026-05-04T12:00:00.123456792Z',1602053349,87744620);
INSERT INTO ensemble_parts VALUES('4f1c2a7e5b0f',1,replace('count = 2\n','\n',char(10)),0,'solver','big','old','required','held',2,3600000000000,60000000000,1000000000,'ACTIVE','why','4711',2,1,1,1,1,9,1000000000,'2026-05-04T12:00:00.123456789Z','2026-05-04T12:00:00.123456790Z','2026-05-04T12:00:00.123456791Z','','2026-05-04T12:00:00.123456793Z','2026-05-04T12:00:00.123456794Z',3205653821,1883585786);
INSERT INTO ensemble_releases VALUES('4f1c2a7e5b0f',0,0,'','2026-05-04T12:00:00.123456789Z',3818832162);
INSERT INTO ensemble_releases VALUES('4f1c2a7e5b0f',1,1,'["00000000000000000000000000000000"]','2026-05-04T12:00:00.123456789Z',4180207672);
PRAGMA user_version = 19;
