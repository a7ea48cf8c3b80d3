-- The tables of a new store. One of an earlier version gets them by upgrades.sql, with the same text but for spaces.

-- The jobs that were submitted or adopted. The sums are checksums of the columns that each kind of reader
-- takes.
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
	finished      INTEGER NOT NULL,
	stale_since   TEXT NOT NULL DEFAULT '',
	successor     TEXT NOT NULL DEFAULT '',
	submitter     TEXT NOT NULL DEFAULT '',
	identity      TEXT NOT NULL DEFAULT '',
	origin_stream TEXT NOT NULL DEFAULT '',
	origin_line   INTEGER NOT NULL DEFAULT 0,
	origin_text   TEXT NOT NULL DEFAULT '',
	irregular     TEXT NOT NULL DEFAULT '',
	hosted        INTEGER NOT NULL DEFAULT 0,
	undated       INTEGER NOT NULL DEFAULT 0,
	tasks         TEXT NOT NULL DEFAULT '',
	canceled      TEXT NOT NULL DEFAULT '',
	brief_sum     INTEGER NOT NULL DEFAULT -1,
	listed_sum    INTEGER NOT NULL DEFAULT -1,
	full_sum      INTEGER NOT NULL DEFAULT -1,
	ensemble      TEXT NOT NULL DEFAULT '',
	part          TEXT NOT NULL DEFAULT '',
	whole_sum     INTEGER NOT NULL DEFAULT -1
) STRICT;
CREATE INDEX jobs_by_age ON jobs (created, sequence);
CREATE INDEX jobs_by_ensemble ON jobs (ensemble) WHERE ensemble <> '';
CREATE INDEX jobs_by_id ON jobs (id) WHERE id <> '';
CREATE INDEX jobs_by_short_id ON jobs (short_id) WHERE short_id <> '';
CREATE INDEX jobs_missing ON jobs (target, sequence) WHERE missing = 1 AND finished = 0;
CREATE INDEX jobs_unfinished ON jobs (created, sequence) WHERE finished = 0;

-- What was submitted, and what the user asked for: the attributes hold the values of the definition and the
-- target, too.
CREATE TABLE submissions (
	tag        TEXT NOT NULL PRIMARY KEY,
	attributes TEXT NOT NULL,
	arguments  TEXT NOT NULL,
	script     TEXT NOT NULL,
	request    TEXT NOT NULL DEFAULT '',
	sum        INTEGER NOT NULL DEFAULT -1
) STRICT;

-- What happened to each job, in the order in which it was recorded.
CREATE TABLE events (
	sequence      INTEGER PRIMARY KEY AUTOINCREMENT,
	tag           TEXT NOT NULL,
	target        TEXT NOT NULL,
	id            TEXT NOT NULL,
	kind          TEXT NOT NULL,
	before        TEXT NOT NULL,
	detail        TEXT NOT NULL,
	native        TEXT NOT NULL,
	reason        TEXT NOT NULL,
	exit_code     INTEGER,
	signal        INTEGER,
	seen          TEXT NOT NULL,
	recorded      TEXT NOT NULL,
	source        TEXT NOT NULL,
	evidence      TEXT NOT NULL,
	origin_stream TEXT NOT NULL DEFAULT '',
	origin_line   INTEGER NOT NULL DEFAULT 0,
	origin_text   TEXT NOT NULL DEFAULT '',
	sum           INTEGER NOT NULL DEFAULT -1
) STRICT;
CREATE INDEX events_by_tag ON events (tag, sequence);

-- When a listing has shown a job, by its number, as it was observed before: to write that into the rows of
-- ten thousand jobs would write all of them again.
CREATE TABLE sightings (
	job      INTEGER PRIMARY KEY,
	observed TEXT NOT NULL,
	seen     TEXT NOT NULL,
	sum      INTEGER NOT NULL DEFAULT -1
) STRICT;

-- Files to be removed once a submission has an outcome, or that stay.
CREATE TABLE staged (
	tag   TEXT NOT NULL,
	path  TEXT NOT NULL,
	stays INTEGER NOT NULL DEFAULT 0,
	sum   INTEGER NOT NULL DEFAULT -1,
	PRIMARY KEY (tag, path)
) STRICT;

-- The state of the start-up commands of targets.
CREATE TABLE sessions (
	target  TEXT NOT NULL PRIMARY KEY,
	started TEXT NOT NULL,
	state   TEXT NOT NULL,
	data    BLOB NOT NULL,
	sum     INTEGER NOT NULL DEFAULT -1
) STRICT;

-- The queries that all processes share.
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

-- The targets that share a query.
CREATE TABLE poll_targets (
	kind   TEXT NOT NULL,
	target TEXT NOT NULL,
	key    TEXT NOT NULL,
	PRIMARY KEY (kind, target)
) STRICT;
CREATE INDEX poll_targets_by_key ON poll_targets (kind, key);

-- How queries went during the last day.
CREATE TABLE polls_past (
	key    TEXT NOT NULL,
	begun  TEXT NOT NULL,
	took   INTEGER NOT NULL,
	jobs   INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	kind   TEXT NOT NULL DEFAULT 'own-jobs'
) STRICT;
CREATE INDEX polls_past_by_age ON polls_past (kind, key, begun);

-- What was listed, in chunks.
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
	sum     INTEGER NOT NULL DEFAULT -1,
	PRIMARY KEY (listing, begun, place)
) STRICT;

-- How many answers of each command were not understood.
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

-- The processes of parallel jobs. The last checksum is of the ends of both outputs, so that these can be
-- verified without the rest.
CREATE TABLE processes (
	tag          TEXT NOT NULL,
	rank         INTEGER NOT NULL,
	node         TEXT NOT NULL,
	pid          INTEGER NOT NULL,
	state        TEXT NOT NULL,
	exit_code    INTEGER,
	signal       INTEGER,
	output       TEXT NOT NULL,
	sum          INTEGER NOT NULL DEFAULT -1,
	output_sum   INTEGER NOT NULL DEFAULT -1,
	error_output TEXT NOT NULL DEFAULT '',
	error_sum    INTEGER NOT NULL DEFAULT -1,
	ends_sum     INTEGER NOT NULL DEFAULT -1,
	PRIMARY KEY (tag, rank)
) STRICT;

-- Where the target keeps the reports on the processes of a job, and how much of them is on record: the
-- checksum of the last report, and whether it was the final one.
CREATE TABLE tracked (
	tag       TEXT NOT NULL PRIMARY KEY,
	target    TEXT NOT NULL,
	directory TEXT NOT NULL,
	read      TEXT NOT NULL,
	final     INTEGER NOT NULL,
	sum       INTEGER NOT NULL
) STRICT;
CREATE INDEX tracked_unread ON tracked (target) WHERE final = 0;

-- Jobs of several parts. Documents never change and may be large, so that they have checksums of their own.
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

-- What was released of an ensemble.
CREATE TABLE ensemble_releases (
	ensemble    TEXT NOT NULL,
	serial      INTEGER NOT NULL,
	incarnation INTEGER NOT NULL,
	instances   TEXT NOT NULL,
	at          TEXT NOT NULL,
	sum         INTEGER NOT NULL,
	PRIMARY KEY (ensemble, serial, incarnation)
) STRICT;

-- The results of exchanges that have names: processes ask for them again after a restart.
CREATE TABLE ensemble_exchanges (
	ensemble TEXT NOT NULL,
	name     TEXT NOT NULL,
	result   TEXT NOT NULL,
	sum      INTEGER NOT NULL,
	PRIMARY KEY (ensemble, name)
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
