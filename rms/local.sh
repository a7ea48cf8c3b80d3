#!/bin/sh
# A batch system for one user on one machine: the program of rms/local.xml.
#
#   sh local.sh submit                                              (reads RMCTL_LOCAL_*)
#   sh local.sh show NUMBER,NUMBER...
#   sh local.sh cancel NUMBER or NUMBER_TASK
#   sh local.sh hold|release|suspend|resume NUMBER
#   sh local.sh find TAG     print the job of a submission
#   sh local.sh list         list this machine's jobs that have not ended, or ended within the last minute or two
#   sh local.sh count        count the running and the waiting jobs
#
# show and list print a line for each job, with the values of print_job. list may print a job twice, as it may change
# meanwhile: the last line counts.
#
# Exit codes: 0 done, 1 refused, 44 no such job, 45 the job has ended, 46 the job runs on another machine.
#
# Workers run the jobs. A worker is a process in a separate session that takes the first job of the queue, runs it, records
# how it ended, and repeats until no job waits. submit starts a worker if there are fewer workers than the job's
# slots. The spool, .local/state/rmctl/local in the home directory, holds
#
#   jobs/NUMBER/          a folder per job
#       description       what was submitted, one value per line
#       environment       the variables of the submission, as shell commands; empty once the job has ended
#       tag               of the submission
#       script            the script to run, unless the description contains the words of a single command
#       submitter         process id and start time of the process that submitted it
#       process           process id and start time of the job's first process
#       timer             process id and start time of the process that ends the job at its time limit
#       started           when the job started
#       suspended         exists while the job is suspended
#       request           why the job should end: CANCELED or TIMEOUT
#       problem           why the job could not start
#       ended             state, exit code, time and reason; once it exists, the job no longer changes
#       successors        the jobs that wait for this one
#       next              for an array: the place of the next task (a hint)
#       ends              for an array: task, state, exit code, start, end and reason of each task that has ended
#                         (the files process, timer, started, request and problem of a task end in a dot and its index)
#   last                  the highest job number used (a hint)
#   hosts/HOST/           homes are shared, processes are not: this host's jobs that ...
#       queue/HUNDREDS/NUMBER  ... wait, in hundreds, to find the first of ten thousand quickly,
#       held/NUMBER            ... are on hold,
#       blocked/NUMBER         ... wait for other jobs,
#       running/PROCESS        ... have a slot: the files of the workers, named after their process id and start time
#       arrays/NUMBER          ... are arrays with live tasks
#       recent/MINUTE     the lines of list for jobs that ended in a minute, by minutes since 1970
#       processors        the default number of slots, as counted by the last worker
#       clock             the uptime at which a process last read the time, and that time
#       cleaned           the hour, since 1970, in which old job folders were last removed
#
# A live job is one file, which contains its line of list. It moves by rename: between the queue and the held jobs, and
# into the file of the worker that takes it, replacing the previous job. If several processes move one, exactly one
# succeeds, and killing one at any moment loses nothing. An array stays in the queue
# until its tasks have begun. A worker takes a task by creating the task's file process, which only one can.

# The variables of the submission, before any of those below is set.
case ${1-} in submit) environment=$(export -p) ;; esac

set -u
newline='
'
tab='	'

refuse() {
	printf '%s\n' "$1" >&2
	exit 1
}

# look_up PID sets process_state to the process's state, a letter, process_nice to its niceness, and process_start to
# its start time, which distinguishes it from a later process with the same id. It fails if there is no such process;
# a zombie does not count.
look_up() {
	if [ -r /proc/self/stat ]; then
		{ read -r process_line <"/proc/$1/stat"; } 2>/dev/null || return 1
		process_line=${process_line##*) } # the name before it may contain anything
		set -- $process_line
		process_state=$1 process_nice=${17} process_start=${20}
	else
		process_line=$(ps -o stat= -o nice= -o lstart= -p "$1" 2>/dev/null) || return 1
		set -- $process_line
		[ $# -gt 2 ] || return 1
		process_state=$1 process_nice=$2
		shift 2
		process_start=$*
	fi
	case $process_state in [ZX]*) return 1 ;; esac
}

# note_process PID FILE writes FILE in one write, since a shell may read it byte by byte.
note_process() {
	look_up "$1"
	echo "$1 $process_start" >"$2"
}

# runs FILE reports whether the process noted in FILE still runs, and sets noted_process to its id, or to
# nothing if the file does not exist yet.
runs() {
	noted_process=
	{ read -r noted_process noted_start <"$1"; } 2>/dev/null || noted_process=
	[ -n "$noted_process" ] && look_up "$noted_process" && [ "$process_start" = "$noted_start" ]
}

# is_noted NAME reports whether the job's file NAME notes this process, and sets noted_process as
# runs does. It fails if the folder was removed and the number reused.
is_noted() {
	noted_process=
	{ read -r noted_process noted_start <"$folder/$1"; } 2>/dev/null
	[ "$noted_process" = $$ ]
}

# in_own_session COMMAND... replaces this process in a new session. The process must not lead a process group: one that the shell
# started in the background does not.
in_own_session() {
	if command -v setsid >/dev/null 2>&1; then
		exec setsid "$@"
	elif command -v perl >/dev/null 2>&1; then
		exec perl -e 'use POSIX (); POSIX::setsid(); exec { $ARGV[0] } @ARGV; print STDERR "$ARGV[0]: $!\n"; exit 127' "$@"
	else
		exec nohup "$@"
	fi
}

# Without setsid and perl, only the shell's job control puts a background process into a new process group.
need_sessions() {
	command -v setsid >/dev/null 2>&1 || command -v perl >/dev/null 2>&1 || {
		{ set -m; } 2>/dev/null
		case $- in *m*) ;; *) refuse "local jobs require setsid, perl or a shell with job control" ;; esac
	}
}

# without_tabs TEXT sets text to TEXT with blanks instead of tabs, which separate the columns of the output.
without_tabs() {
	text=$1
	while case $text in *"$tab"*) ;; *) false ;; esac; do text=${text%%"$tab"*}' '${text#*"$tab"}; done
}

read_description() {
	{
		IFS= read -r slots && IFS= read -r job_host && IFS= read -r name && IFS= read -r directory &&
			IFS= read -r output && IFS= read -r error && IFS= read -r limit && IFS= read -r grace &&
			IFS= read -r niceness && IFS= read -r job_umask && IFS= read -r submitted && IFS= read -r words &&
			IFS= read -r array && IFS= read -r after
	} 2>/dev/null <"$folder/description"
}

# --- times ---

# now sets time to the seconds since 1970, and minute to the minutes. Processes share the answer for a tenth of a
# second.
now() {
	moment=
	{ read -r moment rest </proc/uptime; } 2>/dev/null
	moment=${moment%?}
	[ -z "$moment" ] || [ "$moment" != "$asked" ] || return 0
	asked=
	[ -z "$moment" ] || { read -r asked time <"$place/clock"; } 2>/dev/null
	[ -n "$moment" ] && [ "$moment" = "$asked" ] && [ -n "$time" ] || {
		time=$(date +%s)
		asked=$moment
		{ echo "$asked $time" >"$place/clock"; } 2>/dev/null
	}
	minute=$((time / 60))
}
asked=

# pause sleeps for a fifth of a second if sleep supports it, otherwise for a second, and adds the tenths to waited.
pause() {
	if sleep 0.2 2>/dev/null; then waited=$((waited + 2)); else
		sleep_second
		waited=$((waited + 10))
	fi
}

# sleep_second ends this process if there is no sleep, as after the removal of a container: waits would only compute.
sleep_second() { sleep 1 || [ $? -gt 128 ] || exit 1; }

# --- the spool ---

find_spool() {
	case ${XDG_STATE_HOME-} in
	/*) spool=$XDG_STATE_HOME/rmctl/local ;;
	*) spool=$PWD/.local/state/rmctl/local ;; # rmctl runs commands in the home directory
	esac
}

find_host() {
	{ read -r host </proc/sys/kernel/hostname; } 2>/dev/null || host=$(uname -n)
	place=hosts/$host
}

make_spool() {
	[ -d "$spool/$place/arrays" ] && return # which is created last
	for folder in jobs "$place/queue" "$place/held" "$place/blocked" "$place/running" "$place/recent" "$place/arrays"; do
		mkdir -p "$spool/$folder" || refuse "cannot create the spool folder $spool"
	done
	chmod 700 "$spool"
}

# is_unused reports whether the job's file is in no folder: it may remain after the job's own folder was removed.
is_unused() {
	[ ! -e "jobs/$id" ] || return 1
	for entry in hosts/*/queue/$((id / 100))/"$id" hosts/*/held/"$id" hosts/*/blocked/"$id" hosts/*/arrays/"$id"; do
		[ ! -e "$entry" ] || return 1
	done
	[ -n "$lost_hint" ] || return 0
	for entry in hosts/*/running/*; do
		read_entry "$entry"
		[ "${number%_*}" != "$id" ] || return 1
	done
}

# read_entry FILE sets number to the number of the job in FILE, with an underscore and the index for a task; to nothing
# for an idle worker.
read_entry() {
	number=
	{ read -r number rest <"$1"; } 2>/dev/null
}

# take_number creates the folder of a new job and sets id and folder.
take_number() {
	last=
	{ read -r last <last; } 2>/dev/null
	# The last job's folder is never removed. If it is missing, the hint is absent or was read while it was
	# written.
	case $last in *[!0-9]*) last= ;; esac
	lost_hint=
	[ -n "$last" ] && [ -d "jobs/$last" ] || {
		last=0 lost_hint=yes
		for folder in jobs/*; do
			number=${folder#jobs/}
			case $number in *[!0-9]*) continue ;; esac
			[ "$number" -gt "$last" ] && last=$number
		done
	}
	id=$((last + 1))
	until is_unused && mkdir "jobs/$id" 2>/dev/null; do
		[ -e "jobs/$id" ] || ! is_unused || refuse "cannot create the folder $spool/jobs/$id"
		id=$((id + 1))
	done
	echo "$id" 1<>last # the file is never empty, unlike with >
	folder=jobs/$id
}

# note_end WORD CODE REASON records how the job or its task ended; CODE is - if unknown. Each record is one write,
# so that a reader sees all or nothing. rmctl queries jobs whose end it misses in the list.
note_end() {
	now
	word=$1 code=$2 ended=$time reason=$3
	if [ -n "$task" ]; then
		started=
		{ read -r started <"$folder/started$part"; } 2>/dev/null
		printf '%s %s %s %s %s %s\n' "$task" "$word" "$code" "${started:--}" "$ended" "$reason" >>"$folder/ends"
		return
	fi
	printf '%s %s %s %s\n' "$word" "$code" "$ended" "$reason" >"$folder/ended" || return
	{ : >"$folder/environment" && print_job >>"$place/recent/$minute"; } 2>/dev/null || :
	release_successors
}

# choose_task TASK selects a task of the array; an empty TASK selects the whole job.
choose_task() {
	task=$1 part=${1:+.$1}
}
choose_task ''

read_end() {
	{ read -r word code ended reason <"$folder/ended"; } 2>/dev/null
}

# --- the queue ---

# find_next sets next to the lowest number that waits, and entry to its file.
find_next() {
	while :; do
		first= count=0
		for entry in "$place"/queue/*; do
			entry=${entry##*/}
			case $entry in *[!0-9]*) continue ;; esac
			count=$((count + 1))
			if [ -z "$first" ] || [ "$entry" -lt "$first" ]; then first=$entry; fi
		done
		[ -n "$first" ] || return 1
		next=
		for entry in "$place/queue/$first"/*; do
			entry=${entry##*/}
			case $entry in *[!0-9]*) continue ;; esac
			if [ -z "$next" ] || [ "$entry" -lt "$next" ]; then next=$entry; fi
		done
		entry=$place/queue/$first/$next
		[ -z "$next" ] || return 0
		# An empty folder stays while there is no other: it is about to be filled. Nobody can remove one that was just
		# filled, and who filled it looks for a worker.
		[ "$count" -gt 1 ] && rmdir "$place/queue/$first" 2>/dev/null || return 1
	done
}

# enqueue FILE moves a job into the queue; the folder may be removed meanwhile.
enqueue() {
	for attempt in 1 2 3; do
		mv -f "$1" "$place/queue/$((id / 100))/$id" 2>/dev/null && return
		[ -e "$1" ] && mkdir -p "$place/queue/$((id / 100))" || return 1
	done
}

# read_slots NUMBER sets slots to the number of jobs that may run together with job NUMBER.
read_slots() {
	slots=
	{ read -r slots <"jobs/$1/description"; } 2>/dev/null
	[ -z "$slots" ] || return 0
	[ -n "$processors" ] || { read -r processors <"$place/processors"; } 2>/dev/null
	slots=${processors:-1}
}
processors=

count_processors() {
	processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || getconf NPROCESSORS_ONLN 2>/dev/null || echo 1)
	echo "$processors" >"$place/processors"
}

# count_workers sets workers to the number of other workers, and busy to the number of those with a job.
count_workers() {
	workers=0 busy=0
	for file in "$place"/running/*; do
		[ -e "$file" ] && [ "$file" != "$own" ] || continue
		workers=$((workers + 1))
		[ ! -s "$file" ] || busy=$((busy + 1))
	done
}
own= # the file of this process, if it is a worker

# is_free reports whether fewer than slots workers run a job. Dead workers do not count.
is_free() {
	count_workers
	[ "$busy" -ge "$slots" ] || return 0
	settle_workers
	count_workers
	[ "$busy" -lt "$slots" ]
}

# settle_workers settles all dead workers.
settle_workers() {
	for file in "$place"/running/*; do
		[ ! -e "$file" ] || [ "$file" = "$own" ] || works "$file" || settle "$file"
	done
}

# works FILE reports whether the worker with that file still runs.
works() {
	process=${1##*/}
	look_up "${process%% *}" && [ "$process_start" = "${process#* }" ]
}

# settle FILE kills the remaining processes of a dead worker's job, after a reboot or a kill, marks the job as lost and
# frees its slot. It fails if the disk is full, so that another process retries.
settle() {
	read_entry "$1"
	if [ -n "$number" ] && [ -d "jobs/${number%_*}" ] && [ ! -s "jobs/$number/ended" ]; then
		(
			id=${number%_*} folder=jobs/${number%_*}
			case $number in *_*) choose_task "${number#*_}" ;; esac
			[ -z "$task" ] || ! grep -qs "^$task " "$folder/ends" || exit 0
			runs "$folder/timer$part" && kill_session "$noted_process"
			runs "$folder/process$part" && kill_session "$noted_process"
			read_description && note_end LOST - lost
		) || return 1
	elif [ -s "jobs/$number/ended" ]; then # killed just before releasing these
		(id=$number folder=jobs/$number && release_successors)
	fi
	rm -f "$1"
}

# kill_session PID kills a process started by in_own_session, and its children. A process that has just begun has
# no group yet, but may create it, and start children, before it is killed.
kill_session() {
	kill -KILL "-$1" 2>/dev/null && return
	kill -KILL "$1" 2>/dev/null
	kill -KILL "-$1" 2>/dev/null
}

# dispatch starts a worker if there are fewer workers than the slots of the first waiting job.
dispatch() {
	find_next || return 0
	read_slots "$next"
	count_workers
	[ "$workers" -lt "$slots" ] || {
		settle_workers
		count_workers
		[ "$workers" -lt "$slots" ] || return 0
	}
	start_worker
}

# start_worker starts a worker that does not ignore INT and QUIT, as background processes and their jobs would. A worker runs
# jobs of several submissions without their variables. It inherits no streams, as the caller waits until they are closed.
start_worker() {
	need_sessions
	set -- env -i PATH="$PATH" sh "$program" work
	if env --default-signal=INT,QUIT true 2>/dev/null; then
		shift
		set -- env --default-signal=INT,QUIT "$@"
	elif command -v perl >/dev/null 2>&1; then
		set -- perl -e '$SIG{INT} = $SIG{QUIT} = "DEFAULT"; exec { $ARGV[0] } @ARGV; exit 127' "$@"
	fi
	in_own_session "$@" </dev/null >/dev/null 2>&1 &
}

# --- submit ---

# seconds TIME prints a time limit in seconds.
seconds() {
	asked=$1
	case $1 in
	*[!0-9smhd:]*) refuse "invalid time limit: $asked" ;;
	*:*:*) spelled="${1%%:*} 3600 ${1#*:}" ;;
	*:*) spelled="0 0 $1" ;;
	*d) spelled="${1%d} 86400 0:0" ;;
	*h) spelled="${1%h} 3600 0:0" ;;
	*m) spelled="${1%m} 60 0:0" ;;
	*) spelled="${1%s} 1 0:0" ;;
	esac
	set -- $spelled
	set -- "$1" "$2" "${3%:*}" "${3#*:}"
	total=0
	for figure in "$1 $2" "$3 60" "$4 1"; do
		count=${figure% *}
		while [ "${count#0}" != "$count" ] && [ -n "${count#0}" ]; do count=${count#0}; done # 08 is not a valid octal number
		case $count in '' | *[!0-9]*) refuse "invalid time limit: $asked" ;; esac
		total=$((total + count * ${figure#* }))
	done
	[ "$total" -gt 0 ] || refuse "the time limit must be at least one second"
	echo "$total"
}

# expand_path FILE DEFAULT sets path to the absolute path of an output file. In the names of default folders,
# %j is not replaced.
expand_path() {
	path=$1
	while case $path in *%j*) ;; *) false ;; esac; do
		path=${path%%%j*}$id${path#*%j}
	done
	case $path in
	'') path=$2 ;;
	/*) ;;
	*) path=$directory/$path ;;
	esac
}

submit() {
	script=${RMCTL_LOCAL_SCRIPT:?no script was staged}
	directory=${RMCTL_LOCAL_DIRECTORY:-$PWD}
	case $script in /*) ;; *) script=$PWD/$script ;; esac
	case $directory in /*) ;; *) directory=$PWD/$directory ;; esac
	[ -d "$directory" ] || refuse "the working directory $directory does not exist"
	name=${RMCTL_LOCAL_NAME:-${RMCTL_LOCAL_EXECUTABLE:-job}}
	case $name in */*[!/]*) [ -n "${RMCTL_LOCAL_NAME-}" ] || name=${name##*/} name=${name%\'} ;; esac
	without_tabs "$name"
	name=$text
	limit=
	[ -z "${RMCTL_LOCAL_TIME_LIMIT-}" ] || limit=$(seconds "$RMCTL_LOCAL_TIME_LIMIT") || exit 1
	case $name$directory${RMCTL_LOCAL_OUTPUT-}${RMCTL_LOCAL_ERROR-} in
	*"$newline"*) refuse "job name, directory and file names must not contain line breaks" ;;
	esac
	job_umask=${RMCTL_LOCAL_UMASK:-$(umask)}
	umask 077
	make_spool
	cd "$spool" || exit 1
	read_array "${RMCTL_LOCAL_ARRAY-}"
	read_predecessors "${RMCTL_LOCAL_AFTER-}"
	take_number
	describe || {
		rm -rf "$folder"
		refuse "cannot write to $spool/$folder"
	}
	word=QUEUED
	entry="print_job"
	if [ -n "$array" ]; then # the tasks are listed while the array is in this folder
		entry=true
		true >"$place/arrays/$id" || refuse "cannot write to $spool/$place"
	fi
	if [ "${RMCTL_LOCAL_HOLD-}" = true ]; then
		"$entry" >"$place/held/$id"
	elif [ -n "$after" ]; then
		"$entry" >"$place/blocked/$id"
	else # the queue's folder may be removed meanwhile
		queue=$place/queue/$((id / 100))
		until { "$entry" >"$queue/$id"; } 2>/dev/null; do
			[ "$waited" -lt 9 ] && mkdir -p "$queue" || break
			waited=$((waited + 1))
		done
		[ "$waited" -lt 9 ]
	fi || refuse "cannot write to $spool/$place"
	for number in $predecessors; do echo "$id" >>"jobs/$number/successors"; done
	unblock
	dispatch
	printf 'id=%s\noutput=%s\nerror=%s\nwhole=yes\n' "$id" "$output" "$error"
}

# read_array INDICES sets array to INDICES without %N, which limits slots.
read_array() {
	slots=${RMCTL_LOCAL_SLOTS-} array=${1%\%*}
	case $array in *[!0-9,:-]*) refuse "invalid array indices: $1" ;; esac
	case $1 in
	*%*)
		count_processors
		[ "${1#*%}" -ge "${slots:-$processors}" ] || slots=${1#*%}
		;;
	esac
	place_task 1 || [ -z "$array" ] || refuse "invalid array indices: $1"
}

# place_task PLACE sets task to the index of the task in that place of the array, and rest to the indices from there on.
place_task() {
	left=$1 task= rest=
	IFS=,
	set -- $array
	unset IFS
	for range; do
		step=1 every=
		case $range in *:*) step=${range#*:} every=:${range#*:} range=${range%:*} ;; esac
		first=${range%-*} last=${range#*-}
		if [ -n "$task" ]; then
			rest=$rest,$first-$last${every}
		elif [ "$left" -le $(((last - first) / step + 1)) ]; then
			task=$((first + (left - 1) * step))
			rest=$task-$last${every}
		else
			left=$((left - (last - first) / step - 1))
		fi
	done
	[ -n "$task" ]
}

# read_predecessors CONDITIONS sets after to the conditions, such as afterok:1:2,afterany:3, and predecessors to the jobs.
read_predecessors() {
	after=$1 predecessors=
	IFS=,:
	set -- $1
	unset IFS
	for word; do
		case $word in
		afterok | afterany) ;;
		*)
			case $word in *_*) false ;; esac && (id=$word && find_job) || refuse "cannot depend on job $word"
			predecessors="$predecessors $word"
			;;
		esac
	done
}

# find_words sets words to the command if the script is a single command, which needs no shell and no copy.
find_words() {
	words= third=
	{ IFS= read -r first && IFS= read -r words && ! IFS= read -r third; } <"$script" && [ "$first$third" = '#!/bin/sh' ] || words=
	case $words in
	'exec '*[!A-Za-z0-9\ ./_=:,+@%^\'-]* | 'exec -'*) words= ;;
	'exec '*) words=${words#exec } ;;
	*) words= ;;
	esac
}

# describe writes the folder of the job. Until the job is queued, this process represents it: if it is killed, the job
# is lost.
describe() {
	note_process $$ "$folder/submitter" || return
	expand_path "${RMCTL_LOCAL_OUTPUT-}" "$spool/$folder/stdout${array:+.%a}"
	output=$path
	expand_path "${RMCTL_LOCAL_ERROR-}" "$spool/$folder/stderr${array:+.%a}"
	error=$path
	now
	submitted=$time job_host=$host
	find_words
	{ [ -n "$words" ] || cp "$script" "$folder/script"; } && printf '%s\n' "$environment" >"$folder/environment" &&
		printf '%s\n' "$slots" "$host" "$name" "$directory" "$output" "$error" "$limit" \
			"${RMCTL_LOCAL_GRACE:-10}" $((process_nice + ${RMCTL_LOCAL_NICE:-0})) "$job_umask" "$submitted" "$words" "$array" "$after" >"$folder/description" &&
		# Before the job can run: a submission that nobody saw the end of is looked up by it.
		printf '%s\n' "${RMCTL_LOCAL_TAG-}" >"$folder/tag"
}

# --- the worker ---

# work runs jobs until none waits, and checks once more after removing its file, as submit relies on a worker with a
# file. It lingers for a moment, as starting a worker takes longer than many jobs.
work() {
	need_sessions
	look_up $$ && own="$place/running/$$ $process_start" && : >"$own" || exit 1
	count_processors
	waited=0
	while :; do
		if take_job; then
			# The jobs behind it may have more slots.
			! find_next || { read_slots "$next" && [ $((workers + 1)) -ge "$slots" ]; } || start_worker
			carry_out
			waited=0
		elif [ "$waited" -lt 6 ]; then
			pause
		elif [ -e "$own" ]; then
			rm -f "$own" || exit 1 # the file system is gone or read-only
		else
			exit 0
		fi
	done
}

# take_job moves the first waiting job into this worker's file, if it has a slot. Several workers may do so at the
# same time, so each counts again afterwards, and puts the job back if there are too many.
take_job() {
	while find_next; do
		id=$next folder=jobs/$next
		read_slots "$id"
		is_free || return 1
		if [ -e "$place/arrays/$id" ]; then
			take_task && return
			continue
		fi
		mv -f "$place/queue/$((id / 100))/$id" "$own" 2>/dev/null || {
			[ ! -e "$place/queue/$((id / 100))/$id" ] || return 1 # the disk is full; no other worker was faster
			continue
		}
		choose_task ''
		[ -s "$own" ] || echo "$id" >>"$own"
		# Its folder may have been removed, or somebody who canceled it was killed half-way.
		if ! read_description || [ -s "$folder/ended" ]; then
			: >"$own"
			continue
		fi
		read_slots "$id"
		is_free && return
		enqueue "$own" || return 0
		: >"$own"
		pause
	done
	return 1
}

# read_next sets index to the place of the next task, or of an earlier one. The file is empty while it is written.
read_next() {
	index= looks=0
	while [ -e "$folder/next" ] && [ "$looks" -lt 99 ]; do
		read -r index <"$folder/next" && break
		looks=$((looks + 1))
	done
	index=${index:-1}
}

# take_task takes the next task of the array that is first in the queue. After the last task, the array leaves
# the queue.
take_task() {
	read_description || array=
	read_next
	while place_task "$index"; do
		# In this order: whose task has not ended has a worker.
		echo "${id}_$task" >"$own"
		set -C
		{ true >"$folder/process.$task"; } 2>/dev/null
		taken=$?
		set +C
		index=$((index + 1))
		[ "$taken" = 0 ] || continue
		echo "$index" >"$folder/next"
		read_slots "$id"
		if [ ! -e "$folder/canceled" ] && is_free; then
			choose_task "$task"
			return 0
		fi
		echo "$((index - 1))" >"$folder/next"
		rm -f "$folder/process.$task"
		: >"$own"
		pause
		return 1
	done
	rm -f "$place/queue/$((id / 100))/$id"
	: >"$own"
	end_array
	return 1
}

# carry_out runs the job in this worker's file, and records how it ended.
carry_out() {
	now
	[ "$time" -ge "$submitted" ] || time=$submitted # a worker's clock may lag by a tenth of a second
	echo "$time" >"$folder/started$part"
	case $- in
	*m*) # with job control, wait also returns when the job is stopped
		run </dev/null >/dev/null 2>&1 &
		job=$!
		wait "$job"
		code=$?
		while look_up "$job"; do
			pause
			wait "$job"
			code=$?
		done
		;;
	*)
		(run) </dev/null >/dev/null 2>&1
		code=$?
		;;
	esac
	job=
	{ read -r job rest <"$folder/process$part"; } 2>/dev/null
	[ -z "$job" ] || end_group "$job" # background processes of the job
	until note_how_it_ended || [ ! -d "$folder" ]; do
		sleep_second # a full disk may have room again
	done
	runs "$folder/timer$part" && kill_session "$noted_process"
	: >"$own"
	if [ -n "$task" ]; then
		choose_task ''
		[ -e "$place/queue/$((id / 100))/$id" ] || end_array
	fi
	remove_old
}

# run becomes the job's first process, which leads the job's process group. It notes itself, and then checks
# for a request to end; a process that ends a job writes the request first, and then looks for the noted process.
# A job that cannot be noted, on a full disk or without its folder, does not start, as it could not be ended.
run() {
	if [ -r /proc/self/stat ]; then read -r process rest </proc/self/stat; else process=$(exec sh -c 'echo $PPID'); fi
	note_process "$process" "$folder/process$part" || cannot "write to $spool/$folder"
	[ ! -s "$folder/request" ] && [ ! -s "$folder/request$part" ] && [ ! -s "$folder/ended" ] || exit 143
	if [ -n "$limit" ]; then # through an intermediate process, so that the timer is not a child of the job
		(in_own_session sh "$program" expire "$id" "$process" "$task" &)
	fi
	expand_index "$output"
	output=$path
	expand_index "$error"
	error=$path
	umask "$job_umask"
	cd "$directory" 2>/dev/null || cannot "enter the directory $directory"
	{ true >"$output"; } 2>/dev/null || cannot "write $output"
	{ true >>"$error"; } 2>/dev/null || cannot "write $error"
	exec >"$output"
	if [ "$error" = "$output" ] || [ "$error" -ef "$output" ]; then exec 2>&1; else exec 2>"$error"; fi
	set -f
	if [ -n "$words" ]; then
		eval "set -- $words" && script=
	else # The first line names the interpreter; executing the script directly would fail on a noexec file system.
		script=$spool/$folder/script
		read -r directive <"$script"
		case $directive in '#!'*) set -- ${directive#??} "$script" ;; *) set -- sh "$script" ;; esac
	fi
	[ "${niceness:-0}" -le "$process_nice" ] || set -- nice -n $((niceness - process_nice)) "$@"
	# Variables of the job may have the names of those above.
	tag=
	{ read -r tag <"$spool/$folder/tag"; } 2>/dev/null
	# A script may have to start several processes; a single command does not.
	set -- "$id" "$name" "$directory" "$task" "$tag" "${script:+$program}" "$@"
	{ . "$spool/$folder/environment"; } 2>/dev/null
	cd "$3"
	unset LC_ALL # which rmctl sets for its own commands
	unset RMCTL_LOCAL_TAG RMCTL_LOCAL_SCRIPT RMCTL_LOCAL_DIRECTORY RMCTL_LOCAL_EXECUTABLE RMCTL_LOCAL_NAME RMCTL_LOCAL_SLOTS \
		RMCTL_LOCAL_TIME_LIMIT RMCTL_LOCAL_OUTPUT RMCTL_LOCAL_ERROR RMCTL_LOCAL_HOLD RMCTL_LOCAL_NICE RMCTL_LOCAL_UMASK RMCTL_LOCAL_GRACE \
		RMCTL_LOCAL_ARRAY RMCTL_LOCAL_AFTER RMCTL_TASK_INDEX
	export RMCTL_JOB_ID="$1" RMCTL_JOB_NAME="$2" RMCTL_JOB="$1${4:+_$4}" RMCTL_TAG="$5"
	[ -z "$4" ] || export RMCTL_TASK_INDEX="$4"
	[ -z "$6" ] || export RMCTL_SPREAD="$6"
	shift 6
	in_own_session "$@"
}

# spread COUNT COMMAND... runs COUNT copies of a command, and exits with the first nonzero exit code in order of rank. Only
# rank 0 has standard input. A signal to the process group reaches all copies; this process only waits. Shells other
# than bash start background processes that ignore INT and QUIT for good.
spread() {
	case $1 in '' | *[!0-9]*) refuse "cannot start $1 processes" ;; esac
	export RMCTL_PROCESSES="$1" RMCTL_PROCESS_RANK=0
	shift
	unset RMCTL_SPREAD
	interrupted=
	for signal in HUP INT QUIT USR1 USR2 ALRM TERM; do trap "interrupted=$signal" "$signal"; done
	exec 3<&0
	processes=
	while [ "$RMCTL_PROCESS_RANK" -lt "$RMCTL_PROCESSES" ]; do
		(
			trap - HUP INT QUIT USR1 USR2 ALRM TERM
			if [ "$RMCTL_PROCESS_RANK" = 0 ]; then exec "$@" <&3 3<&-; else exec "$@" </dev/null 3<&-; fi
		) &
		processes="$processes $!" RMCTL_PROCESS_RANK=$((RMCTL_PROCESS_RANK + 1))
	done
	exec 3<&- </dev/null
	# From here signals are for the others alone. One that came before may have missed some of them.
	trap '' HUP INT QUIT USR1 USR2 ALRM TERM
	[ -z "$interrupted" ] || kill -s "$interrupted" $processes 2>/dev/null
	code=0
	for process in $processes; do
		wait "$process"
		ended_with=$?
		[ "$code" != 0 ] || code=$ended_with
	done
	exit "$code"
}

# expand_index FILE sets path to the file of a task, with %a replaced by its index.
expand_index() {
	path=$1
	while [ -n "$task" ] && case $path in *%a*) ;; *) false ;; esac; do path=${path%%%a*}$task${path#*%a}; done
}

cannot() {
	without_tabs "cannot $1"
	echo "$text" >"$spool/$folder/problem$part"
	exit 126
}

note_how_it_ended() {
	request=
	{ read -r request <"$folder/request" || read -r request <"$folder/request$part"; } 2>/dev/null
	case $request:$code in
	CANCELED:*) note_end CANCELED "$code" canceled ;;
	TIMEOUT:*) note_end TIMEOUT "$code" "time limit of $limit s reached" ;;
	*:0) note_end COMPLETED 0 '' ;;
	*)
		reason= # the exit code is enough
		is_signal "$code" && reason=$(kill -l $((code - 128))) && reason=${reason:+SIG$reason}
		{ IFS= read -r reason <"$folder/problem$part"; } 2>/dev/null
		note_end FAILED "$code" "$reason"
		;;
	esac
}

# is_signal CODE: after a signal, a shell reports 128 plus the signal's number. No system
# has more than 64 signals.
is_signal() {
	[ "$1" != - ] && [ "$1" -gt 128 ] && [ "$1" -le 192 ]
}

# group_runs PID reports whether a process of the group still runs. Zombies do not count,
# if ps can print process groups.
group_runs() {
	kill -0 "-$1" 2>/dev/null || return 1
	table=$(ps -A -o pgid= -o stat= 2>/dev/null) || return 0
	case $table in
	*"$1"*) printf '%s\n' "$table" | grep -q "^ *$1  *[^ZX]" ;;
	esac
}

# end_group PID terminates a process group, and kills the remaining processes after the grace period. A stopped
# process receives the signal when it is resumed.
end_group() {
	kill -TERM "-$1" 2>/dev/null || return 0
	kill -CONT "-$1" 2>/dev/null
	waited=0
	while group_runs "$1"; do
		if [ "$waited" -ge $((grace * 10)) ]; then
			kill -KILL "-$1" 2>/dev/null
			return 0
		fi
		pause
	done
}

# request_end WORD records why a job should end; the first request counts.
request_end() {
	set -C
	{ echo "$1" >"$folder/request$part"; } 2>/dev/null
	set +C
}

# expire FIRST ends the job at its time limit; FIRST is the job's first process. It outlives the worker, so
# the limit holds even if the worker dies.
expire() {
	note_process $$ "$folder/timer$part"
	first=$1
	look_up "$first" && [ ! -s "$folder/ended" ] || exit 0 # the job ended first
	first_start=$process_start
	over=$(($(date +%s) + limit)) remaining=$limit
	until sleep "$remaining"; do
		[ $? -gt 128 ] || break # otherwise sleep was killed
		remaining=$((over - $(date +%s)))
		[ "$remaining" -gt 0 ] || break
	done
	if is_noted "timer$part"; then
		[ -s "$folder/ended" ] && exit 0
		request_end TIMEOUT
		finish
	elif look_up "$first" && [ "$process_start" = "$first_start" ]; then # the folder was removed
		end_group "$first"
	fi
}

# finish ends a running job, for cancel and expire, and waits until it has ended.
finish() {
	while runs "$folder/process$part"; do
		leads_group && end_group "$noted_process" && return
		pause
	done
}

# leads_group reports whether the noted process has started its session: it notes itself first.
leads_group() {
	kill -0 "-$noted_process" 2>/dev/null
}

# remove_old removes, once an hour, the folders of jobs that ended more than a week ago. It keeps the last job, to
# continue the numbers.
remove_old() {
	hour=
	{ read -r hour <"$place/cleaned"; } 2>/dev/null
	[ "$hour" != $((time / 3600)) ] && echo $((time / 3600)) >"$place/cleaned" || return 0
	remove_old_ends
	last=
	{ read -r last <last; } 2>/dev/null
	find jobs -name ended -mtime +7 2>/dev/null | while IFS= read -r mark; do
		mark=${mark%/ended}
		case ${mark#jobs/} in "$last" | *[!0-9]*) ;; *) rm -rf "$mark" ;; esac
	done
}

# --- queries ---

# find_worker succeeds if a worker has the job. It settles dead workers.
find_worker() {
	for file in "$place"/running/*; do
		read_entry "$file"
		[ "$number" = "$id" ] || continue
		works "$file" && return
		settle "$file"
	done
	return 1
}

# find_state sets word to the state of the job. A job may move between two checks, so if it is not found, find_state
# checks again. Then it has ended, or it is not queued: its submission continues, or was killed.
find_state() {
	for attempt in 1 2 3; do
		read_end && return
		# Somebody who canceled it was killed half-way.
		[ -e "$folder/canceled" ] && [ ! -e "$place/arrays/$id" ] && note_canceled
		word=QUEUED
		[ -e "$place/queue/$((id / 100))/$id" ] || [ -e "$place/blocked/$id" ] && return
		word=HELD
		[ -e "$place/held/$id" ] && return
		if find_worker; then
			word=STARTING
			if runs "$folder/process"; then
				if leads_group; then judge_process; fi
			elif [ -n "$noted_process" ]; then # the worker is about to record its end
				word=RUNNING noted_process=
			fi
			return 0
		fi
	done
	read_end && return
	word=RUNNING
	[ -e "$place/arrays/$id" ] && return
	# Whoever submits it is about to put it into the queue.
	word=QUEUED
	runs "$folder/submitter" && return
	[ -e "$folder/tag" ] || no_such_job
	note_end LOST - lost && read_end
}

# judge_process sets word from the state of the job's first process. A shell that was stopped while it started
# a program may wait (D) for its stopped child instead of being stopped itself (T).
judge_process() {
	word=RUNNING
	case $process_state in
	[Tt]*) word=SUSPENDED ;;
	D*) [ -e "$folder/suspended" ] && word=SUSPENDED ;;
	esac
}

no_such_job() {
	printf 'no such job: %s\n' "$id" >&2
	exit 44
}

find_job() {
	case $id in '' | *[!0-9_]* | _* | *_ | *_*_*) no_such_job ;; esac
	cd "$spool" 2>/dev/null || no_such_job
	case $id in *_*) choose_task "${id#*_}" ;; esac
	id=${id%_*} folder=jobs/${id%_*}
	read_description || no_such_job
	[ -z "$task" ] || [ -n "$array" ] || no_such_job
	read_end && return
	[ "$job_host" = "$host" ] || {
		printf 'job %s runs on %s; run this command there\n' "$id" "$job_host" >&2
		exit 46
	}
}

# is_over reports whether word is a final state.
is_over() {
	case $word in
	COMPLETED | FAILED | CANCELED | TIMEOUT | LOST) ;;
	*) return 1 ;;
	esac
}

# print_array prints a line for each state and exit code of the tasks, with their indices. Waiting tasks are first, as
# they may change meanwhile.
print_array() {
	reason= started= ended= code=
	read_next
	place_task "$index"
	choose_task ''
	word=QUEUED
	[ ! -e "$place/held/$id" ] || word=HELD
	if [ -e "$folder/canceled" ]; then
		word=CANCELED reason=canceled
		{ read -r number code ended number <"$folder/ended"; } 2>/dev/null || ended=$submitted
	fi
	[ -z "$rest" ] || print_line "${id}_[$rest]"
	for file in "$place"/running/*; do
		read_entry "$file"
		[ "${number%_*}" = "$id" ] && [ "$number" != "$id" ] || continue
		choose_task "${number#*_}"
		word=STARTING code= reason= started= ended=
		{ read -r started <"$folder/started$part"; } 2>/dev/null
		! runs "$folder/process$part" || ! leads_group || word=RUNNING
		print_line "$number"
	done
	choose_task ''
	[ ! -s "$folder/ends" ] || sort -n "$folder/ends" | awk -v OFS="$tab" -v id="$id" -v array="$array" -v submitted="$submitted" -v host="$job_host" -v tag="$tag" '
		$1 == last { next }
		{
			task = last = $1; code = $3 == "-" ? "" : $3; started = $4 == "-" ? "" : $4; ended = $5
			reason = $0
			for (i = 1; i <= 5; i++) sub(/^[^ ]* /, "", reason)
			key = $2 OFS code OFS reason
			if (!(key in ranges)) { keys[++count] = key; word[key] = $2; codes[key] = code; reasons[key] = reason; begun[key] = started }
			else if (task == until[key] + 1) { until[key] = task; if (ended > over[key]) over[key] = ended; next }
			else ranges[key] = ranges[key] (from[key] == until[key] ? from[key] : from[key] "-" until[key]) ","
			if (!(key in ranges)) ranges[key] = ""
			from[key] = until[key] = task
			if (ended > over[key]) over[key] = ended
		}
		END {
			for (i = 1; i <= count; i++) {
				key = keys[i]
				print id "_[" ranges[key] (from[key] == until[key] ? from[key] : from[key] "-" until[key]) "]", array, word[key], codes[key],
					submitted, begun[key], over[key], host, tag, reasons[key], ENVIRON["name"]
			}
		}'
}

# print_job prints the job.
print_job() {
	tag= started=
	{ read -r tag <"$folder/tag"; } 2>/dev/null
	{ read -r started <"$folder/started"; } 2>/dev/null
	if [ -n "$array" ]; then
		(export name && print_array)
		return
	fi
	is_over || ended= code= reason=
	print_line "$id"
}

# print_line ID prints a line with the columns of the reader jobs in local.xml.
print_line() {
	set -- "$1" "$array" "$word" "${code#-}" "$submitted" "$started" "$ended" "$job_host" "$tag" "$reason" "$name"
	IFS=$tab
	printf '%s\n' "$*"
	unset IFS
}

# end_array records the end of an array whose tasks have all ended: the first of these states that any task has.
end_array() {
	[ ! -e "$place/queue/$((id / 100))/$id" ] && [ ! -e "$place/held/$id" ] && [ ! -e "$place/blocked/$id" ] || return 0
	if [ -d "$folder" ] && [ ! -s "$folder/ended" ]; then
		settle_workers
		for file in "$place"/running/*; do
			[ "$file" != "$own" ] || continue
			read_entry "$file"
			[ "${number%_*}" != "$id" ] || return 0
		done
		choose_task ''
		if grep -qs '^[0-9]* [FTL]' "$folder/ends"; then
			note_end FAILED - ''
		elif [ -e "$folder/canceled" ] || grep -qs '^[0-9]* CANCELED ' "$folder/ends"; then
			note_end CANCELED - canceled
		elif [ -s "$folder/ends" ]; then
			note_end COMPLETED 0 ''
		elif ! runs "$folder/submitter"; then
			note_end LOST - lost
		else
			return 0
		fi
	fi
	rm -f "$place/arrays/$id"
}

# --- dependencies ---

# unblock moves a job into the queue when its predecessors have ended, or cancels it.
unblock() {
	[ -e "$place/blocked/$id" ] || return 0
	judge_predecessors
	case $verdict in
	wait) ;;
	go) enqueue "$place/blocked/$id" && dispatch ;;
	*)
		mv -f "$place/blocked/$id" "$folder/canceled" 2>/dev/null || return 0
		note_end CANCELED - "$verdict"
		rm -f "$place/arrays/$id"
		;;
	esac
}

# judge_predecessors sets verdict to wait, go, or why the job can never run.
judge_predecessors() {
	verdict=go
	IFS=,:
	set -- $after
	unset IFS
	for number; do
		case $number in
		afterok | afterany)
			condition=$number
			continue
			;;
		esac
		end=
		{ read -r end rest <"jobs/$number/ended"; } 2>/dev/null
		[ -d "jobs/$number" ] || end=gone
		case $condition:$end in
		*:) verdict=wait ;;
		afterok:COMPLETED | afterany:*) ;;
		*)
			verdict="job $number is $end"
			return
			;;
		esac
	done
}

# release_successors unblocks the jobs that wait for this one.
release_successors() {
	[ -s "$folder/successors" ] || return 0
	while read -r successor; do
		( # whose own successors may follow
			id=$successor folder=jobs/$successor
			choose_task ''
			read_description && unblock
		)
	done <"$folder/successors"
}


# list prints the live jobs, and then those that ended meanwhile, or earlier in this minute or
# the last.
list() {
	cd "$spool" 2>/dev/null || return 0 # no job was ever submitted
	now
	for entry in "$place"/queue/*/* "$place"/held/* "$place"/blocked/*; do # if a job's folder was removed
		[ -d "jobs/${entry##*/}" ] || case ${entry##*/} in *[!0-9]*) ;; *) rm -f "$entry" ;; esac
	done
	find "$place/queue" "$place/blocked" -type f -exec cat {} + 2>/dev/null
	find "$place/held" -type f -exec sed "s/^\([0-9]*$tab$tab\)QUEUED$tab/\1HELD$tab/" {} + 2>/dev/null
	for file in "$place"/running/*; do
		read_entry "$file"
		case $number in '' | *_*) continue ;; esac
		( # the job may no longer exist
			id=$number folder=jobs/$number
			read_description && find_state 2>/dev/null && print_job
		)
	done
	settle_workers
	for entry in "$place"/arrays/*; do
		id=${entry##*/} folder=jobs/${entry##*/}
		[ -e "$entry" ] && read_description || continue
		print_job
		end_array
	done
	cat "$place/recent/$((minute - 1))" "$place/recent/$minute" 2>/dev/null
	cat "$place/recent/$((minute + 1))" 2>/dev/null # the next minute may have begun
	remove_old_ends
	dispatch # in case the process that should start a worker was killed
}

remove_old_ends() {
	for file in "$place"/recent/*; do
		case ${file##*/} in *[!0-9]*) continue ;; esac
		[ "${file##*/}" -ge $((minute - 1)) ] || rm -f "$file"
	done
}

# count_jobs prints the numbers of running and of waiting jobs, including held ones.
count_jobs() {
	cd "$spool" 2>/dev/null || place=/nowhere
	settle_workers
	count_workers
	set -- "$place"/queue/*/*
	[ -e "$1" ] || shift
	waiting=$#
	for folder in held blocked; do
		set -- "$place/$folder"/*
		[ -e "$1" ] || shift
		waiting=$((waiting + $#))
	done
	printf 'queue=local running=%s waiting=%s\n' "$busy" "$waiting"
}

# find_tag prints the number of a submission's job and its output files, or none. It fails if it cannot search everything:
# the rest may contain the job.
find_tag() {
	case $id in '' | *[!0-9a-fA-F-]*) refuse "invalid submission tag: $id" ;; esac
	[ -e "$spool/jobs" ] || { echo none && return; }
	# The folder of a job that was never complete has no tag, and its job never runs.
	found=$(cd "$spool" && find jobs -name tag -exec sh -c 'grep -lxF -e "$0" "$@" || [ $? = 1 ] || echo /failed/' "$id" {} + || echo /failed/)
	printf '%s\n' "$found" | while IFS=/ read -r jobs number file; do
		[ "$jobs" = jobs ] || continue
		folder=$spool/jobs/$number
		output='' error=''
		read_description
		printf 'id=%s tag=%s\toutput=%s\terror=%s\n' "$number" "$id" "$output" "$error"
	done
	case $found in
	*jobs/*) ;;
	'') echo none ;;
	*) refuse "cannot search all jobs in $spool" ;;
	esac
}

show() {
	unblock
	find_state
	[ ! -e "$place/arrays/$id" ] || end_array
	print_job
	# In case the process that should start a worker was killed.
	[ "$word" != QUEUED ] || dispatch
}

# show_several prints the jobs of a comma-separated list that exist on this machine.
show_several() {
	cd "$spool" 2>/dev/null || return 0
	IFS=,
	set -- $id
	unset IFS
	for id; do
		case $id in '' | *[!0-9_]*) continue ;; esac
		folder=jobs/$id
		if read_description && read_end; then print_job; else (find_job && show) 2>/dev/null; fi
	done
}

# has_ended refuses a request for an ended job.
has_ended() {
	printf 'job %s has ended\n' "$id" >&2
	exit 45
}

hold() {
	for entry in "$place/queue/$((id / 100))/$id" "$place/blocked/$id"; do
		mv -f "$entry" "$place/held/$id" 2>/dev/null && dispatch && return
	done
	find_state
	case $word in
	HELD) ;;
	STARTING | RUNNING | SUSPENDED) refuse "cannot hold job $id: it has started; suspend it instead" ;;
	QUEUED) refuse "cannot hold job $id: moving its file failed" ;;
	*) has_ended ;;
	esac
}

release() {
	if [ -n "$after" ]; then
		mv -f "$place/held/$id" "$place/blocked/$id" 2>/dev/null && unblock && return
	else
		enqueue "$place/held/$id" && dispatch && return
	fi
	find_state
	case $word in
	HELD) refuse "cannot release job $id: moving its file failed" ;;
	QUEUED | STARTING | RUNNING | SUSPENDED) refuse "job $id is not on hold" ;;
	*) has_ended ;;
	esac
}

# wait_until WORD waits until a signal has taken effect, which happens when the process is next scheduled: a query
# after suspend or resume should see the result.
wait_until() {
	while runs "$folder/process"; do
		judge_process
		[ "$word" = "$1" ] && return
		[ "$waited" -lt 100 ] || refuse "job $id is still $word after the signal"
		pause
	done
}

suspend() {
	[ -z "$array" ] || refuse "cannot suspend job $id: it is an array"
	find_state
	case $word in
	SUSPENDED) return ;;
	QUEUED | HELD) refuse "cannot suspend job $id: it has not started; hold it instead" ;;
	STARTING) refuse "job $id is starting; try again" ;;
	RUNNING)
		echo >"$folder/suspended"
		kill -STOP "-$noted_process" 2>/dev/null || refuse "job $id is ending"
		wait_until SUSPENDED
		;;
	*) has_ended ;;
	esac
}

resume() {
	find_state
	case $word in
	SUSPENDED)
		rm -f "$folder/suspended"
		kill -CONT "-$noted_process" 2>/dev/null || refuse "job $id is ending"
		wait_until RUNNING
		;;
	QUEUED | HELD | STARTING | RUNNING) refuse "job $id is not suspended" ;;
	*) has_ended ;;
	esac
}

# note_canceled ends a job that left the queue before it started.
note_canceled() {
	note_end CANCELED - canceled
}

# leave_queue removes a job from the queue: then no worker can start it.
leave_queue() {
	for entry in "$place/queue/$((id / 100))/$id" "$place/held/$id" "$place/blocked/$id"; do
		mv -f "$entry" "$folder/canceled" 2>/dev/null && return
	done
	return 1
}

# cancel_array cancels an array or one of its tasks.
cancel_array() {
	whole=$task
	! read_end || has_ended
	if [ -n "$task" ]; then
		! grep -qs "^$task " "$folder/ends" || has_ended
		set -C
		if { true >"$folder/process$part"; } 2>/dev/null; then
			set +C
			note_end CANCELED - canceled
			return
		fi
		set +C
	else
		leave_queue || true >"$folder/canceled"
	fi
	request_end CANCELED
	need_sessions
	for file in "$place"/running/*; do
		read_entry "$file"
		case $number in "${id}_"*) ;; *) continue ;; esac
		[ -z "$whole" ] || [ "$number" = "${id}_$whole" ] || continue
		in_own_session sh "$program" finish "$id" - "${number#*_}" </dev/null >/dev/null 2>&1 &
	done
	choose_task ''
	end_array
}

cancel() {
	if [ -n "$array" ]; then
		cancel_array
		return
	fi
	until leave_queue; do
		find_state
		case $word in
		STARTING | RUNNING | SUSPENDED)
			request_end CANCELED
			need_sessions
			in_own_session sh "$program" finish "$id" </dev/null >/dev/null 2>&1 &
			return
			;;
		QUEUED | HELD) # being submitted, held or released
			[ "$waited" -lt 100 ] || refuse "cannot remove job $id from the queue"
			pause
			;;
		*) has_ended ;;
		esac
	done
	note_canceled
	dispatch
}

# --- main ---

# The shell reads the last line before running anything, so the file may be replaced meanwhile.
main() {
	[ "${1-}" != spread ] || { shift && spread "$@"; } # called from the job's script
	case $0 in /*) program=$0 ;; *) program=$PWD/$0 ;; esac
	verb=${1-} id=${2-} waited=0
	find_host
	case $verb in
	work | expire | finish) # started in the spool by local.sh itself
		spool=$PWD folder=jobs/$id
		[ "$verb" = work ] || read_description || exit 1
		choose_task "${4-}"
		"$verb" "${3-}"
		;;
	submit)
		find_spool
		submit
		;;
	list | find | count)
		umask 077
		find_spool
		case $verb in list) list ;; find) find_tag ;; count) count_jobs ;; esac
		;;
	show | hold | release | suspend | resume | cancel)
		umask 077
		find_spool
		case $verb,$id in
		show,*,*) show_several ;;
		*)
			find_job
			"$verb"
			;;
		esac
		;;
	*) refuse "usage: sh local.sh submit|list|count|find TAG|show NUMBERS|cancel|hold|release|suspend|resume NUMBER" ;;
	esac
}

main "$@"
exit
