-- The schema of the record, version by version: each step leads from one version to
-- the next, the first one from an empty database. A step is never edited once it is
-- released, only others are added.

-- The texts that are large and never change after the intent stand in a
-- table of their own, so that listings and updates do not carry them along.
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
) STRICT;
CREATE TABLE sessions (
	target  TEXT NOT NULL PRIMARY KEY,
	started TEXT NOT NULL,
	state   TEXT NOT NULL,
	data    BLOB NOT NULL
) STRICT;

-- next version
-- What the user submitted does not follow from the attributes, which hold the
-- definition's and the target's values, too.
ALTER TABLE submissions ADD COLUMN request TEXT NOT NULL DEFAULT '';

-- next version
-- The answer of a query that began before the job was doubted does not end the doubt.
ALTER TABLE jobs ADD COLUMN stale_since TEXT NOT NULL DEFAULT '';

-- next version
-- What is usual of the output of each state of a definition, and what was not.
CREATE TABLE readings (
	definition TEXT NOT NULL,
	command    TEXT NOT NULL,
	runs       INTEGER NOT NULL,
	segments   INTEGER NOT NULL,
	unmatched  INTEGER NOT NULL,
	highest    REAL NOT NULL,
	read       TEXT NOT NULL,
	PRIMARY KEY (definition, command)
) STRICT;
CREATE TABLE drifts (
	target     TEXT NOT NULL,
	command    TEXT NOT NULL,
	kind       TEXT NOT NULL,
	definition TEXT NOT NULL,
	seen       TEXT NOT NULL,
	job        TEXT NOT NULL,
	at         TEXT NOT NULL,
	session    TEXT NOT NULL,
	warned     TEXT NOT NULL,
	PRIMARY KEY (target, command, kind)
) STRICT;

-- next version
-- What happened to each job, in the order in which it was recorded; and the
-- queries that all processes share.
ALTER TABLE jobs ADD COLUMN successor TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN submitter TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN identity TEXT NOT NULL DEFAULT '';
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
) STRICT;
CREATE INDEX events_by_tag ON events (tag, sequence);
CREATE TABLE polls (
	key      TEXT NOT NULL PRIMARY KEY,
	target   TEXT NOT NULL,
	holder   TEXT NOT NULL,
	held     TEXT NOT NULL,
	until    TEXT NOT NULL,
	begun    TEXT NOT NULL,
	took     INTEGER NOT NULL,
	jobs     INTEGER NOT NULL,
	changed  TEXT NOT NULL,
	failures INTEGER NOT NULL,
	error    TEXT NOT NULL,
	paused   TEXT NOT NULL
) STRICT;
CREATE TABLE polls_past (
	key    TEXT NOT NULL,
	begun  TEXT NOT NULL,
	took   INTEGER NOT NULL,
	jobs   INTEGER NOT NULL,
	failed INTEGER NOT NULL
) STRICT;
CREATE INDEX polls_past_by_age ON polls_past (key, begun);

-- next version
-- Files that are to be removed once a submission has an outcome, so that one
-- that is cut off leaves none.
CREATE TABLE staged (
	tag  TEXT NOT NULL,
	path TEXT NOT NULL,
	PRIMARY KEY (tag, path)
) STRICT;

-- next version
-- The line that a state was read from, and what was out of order in how the
-- job was seen.
ALTER TABLE jobs ADD COLUMN origin_stream TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN origin_line INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN origin_text TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN irregular TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN origin_stream TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN origin_line INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN origin_text TEXT NOT NULL DEFAULT '';

-- next version
-- When a listing has shown a job, by its number, as it was observed at a time
-- before: to write that into the rows of ten thousand jobs would write all of
-- them again.
CREATE TABLE sightings (
	job      INTEGER PRIMARY KEY,
	observed TEXT NOT NULL,
	seen     TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_missing ON jobs (target, sequence) WHERE missing = 1 AND finished = 0;

-- next version
-- The processes of parallel jobs.
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

-- next version
-- Files that stay, too, may be cut off while they are written.
ALTER TABLE staged ADD COLUMN stays INTEGER NOT NULL DEFAULT 0;

-- next version
-- What names and keys had at their ends, or joined, gets columns and rows of its
-- own: who submitted a job, which kind of query a poll is, and the targets that
-- share it. What was listed goes through the database, too.
ALTER TABLE jobs ADD COLUMN hosted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN undated INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET hosted = 1, submitter = substr(submitter, 1, length(submitter) - 7) WHERE substr(submitter, -7) = ' (host)';
UPDATE jobs SET undated = 1, submitter = substr(submitter, 1, length(submitter) - 10) WHERE substr(submitter, -10) = ' (adopted)';
CREATE TABLE kinds (kind TEXT NOT NULL, suffix TEXT NOT NULL) STRICT;
INSERT INTO kinds VALUES ('list-jobs', ' x:list-jobs'), ('list-nodes', ' x:list-nodes'), ('list-queues', ' x:list-queues');
ALTER TABLE polls RENAME TO polls_before;
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
INSERT INTO polls SELECT coalesce(kind, 'own-jobs'), substr(key, 1, length(key) - coalesce(length(suffix), 0)),
	holder, held, until, begun, took, jobs, changed, failures, error, paused
	FROM polls_before LEFT JOIN kinds ON substr(key, -length(suffix)) = suffix;
CREATE TABLE poll_targets (
	kind   TEXT NOT NULL,
	target TEXT NOT NULL,
	key    TEXT NOT NULL,
	PRIMARY KEY (kind, target)
) STRICT;
CREATE INDEX poll_targets_by_key ON poll_targets (kind, key);
WITH RECURSIVE names (key, name, rest) AS (
	SELECT key, '', target || char(10) FROM polls_before
	UNION ALL
	SELECT key, substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, instr(rest, char(10)) + 1) FROM names WHERE rest <> ''
)
INSERT OR IGNORE INTO poll_targets SELECT coalesce(kind, 'own-jobs'),
	CASE WHEN substr(name, -length(suffix)) = suffix THEN substr(name, 1, length(name) - length(suffix)) ELSE name END,
	substr(key, 1, length(key) - coalesce(length(suffix), 0))
	FROM names LEFT JOIN kinds ON substr(key, -length(suffix)) = suffix WHERE name <> '';
DROP TABLE polls_before;
ALTER TABLE polls_past ADD COLUMN kind TEXT NOT NULL DEFAULT 'own-jobs';
UPDATE polls_past SET kind = kinds.kind, key = substr(key, 1, length(key) - length(suffix)) FROM kinds WHERE substr(key, -length(suffix)) = suffix;
DROP INDEX polls_past_by_age;
CREATE INDEX polls_past_by_age ON polls_past (kind, key, begun);
DROP TABLE kinds;
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

-- next version
-- A count of what was not understood replaces statistics of all outputs.
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
INSERT OR IGNORE INTO not_understood SELECT target, command, definition, 1, seen, job, at FROM drifts WHERE kind <> 'unmatched lines' ORDER BY at DESC;
DROP TABLE drifts;
DROP TABLE readings;

-- next version
-- The tasks of an array and their states, as they were last seen: schedulers forget them.
ALTER TABLE jobs ADD COLUMN tasks TEXT NOT NULL DEFAULT '';

-- next version
-- A job that rmctl canceled may end in ways that look like a failure.
ALTER TABLE jobs ADD COLUMN cancel_accepted INTEGER NOT NULL DEFAULT 0;

-- next version
-- When the scheduler accepted to cancel a job is evidence of how it ended.
ALTER TABLE jobs ADD COLUMN canceled TEXT NOT NULL DEFAULT '';
UPDATE jobs SET canceled = CASE stale_since WHEN '' THEN created ELSE stale_since END WHERE cancel_accepted <> 0;
ALTER TABLE jobs DROP COLUMN cancel_accepted;
-- next version
-- Checksums, so that a damaged row is noticed. Rows that were written before have -1.
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

-- next version
-- What processes printed to standard error, apart from their output. The last checksum is that of
-- the ends of both that views show, so that these can be verified without the rest.
ALTER TABLE processes ADD COLUMN error_output TEXT NOT NULL DEFAULT '';
ALTER TABLE processes ADD COLUMN error_sum INTEGER NOT NULL DEFAULT -1;
ALTER TABLE processes ADD COLUMN ends_sum INTEGER NOT NULL DEFAULT -1;

-- next version
-- Where the target keeps the reports on the processes of a job, and how much of them is on
-- record: the checksum of the last report, and whether it was the final one.
CREATE TABLE tracked (
	tag       TEXT NOT NULL PRIMARY KEY,
	target    TEXT NOT NULL,
	directory TEXT NOT NULL,
	read      TEXT NOT NULL,
	final     INTEGER NOT NULL,
	sum       INTEGER NOT NULL
) STRICT;
CREATE INDEX tracked_unread ON tracked (target) WHERE final = 0;

-- next version
-- Ensembles: jobs of several parts, what was released of them, and their events. Documents never
-- change and may be large, so that they have checksums of their own.
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

-- next version
-- The ensemble that a job is a part of, which the job outlives, and the label of the part.
ALTER TABLE jobs ADD COLUMN ensemble TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN part TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN whole_sum INTEGER NOT NULL DEFAULT -1;
CREATE INDEX jobs_by_ensemble ON jobs (ensemble) WHERE ensemble <> '';

-- The results of the exchanges of an ensemble that have names: processes ask for them again after a restart.
CREATE TABLE ensemble_exchanges (
	ensemble TEXT NOT NULL,
	name     TEXT NOT NULL,
	result   TEXT NOT NULL,
	sum      INTEGER NOT NULL,
	PRIMARY KEY (ensemble, name)
) STRICT;
