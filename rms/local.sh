#!/bin/sh
# A batch system for one user of one machine: the program behind rms/local.xml.
#
#   sh local.sh submit                                              (reads RMCTL_LOCAL_*)
#   sh local.sh show NUMBER,NUMBER...
#   sh local.sh cancel NUMBER or NUMBER_TASK
#   sh local.sh hold|release|suspend|resume NUMBER
#   sh local.sh find TAG     the job of a submission
#   sh local.sh list         the jobs of this machine that have not ended, or ended within the last minute or two
#   sh local.sh count        how many of them run and wait
#
# show and list print a line for each job, with the values of print_job. What list says of a job last counts: it may
# change while the list is made.
#
# Exit codes: 0 done, 1 refused, 44 no such job, 45 the job has ended, 46 ask the machine that runs it.
#
# Workers run the jobs: processes, each in a session of its own, that take the first job of the queue, run it, note how
# it ended, and go on until nothing waits. Whoever submits a job starts one where there are fewer than the job's
# slots. The spool, .local/state/rmctl/local in the home directory, holds
#
#   jobs/NUMBER/          a folder per job
#       description       what was submitted, one value per line
#       environment       the variables of the submission, as commands of the shell; empty once the job has ended
#       tag               of the submission
#       script            what to run, unless the description has the words of a single command
#       submitter         process id and start time of the process that submitted it
#       process           process id and start time of the job's first process
#       timer             process id and start time of the process that ends the job at its time limit
#       started           when the job started
#       suspended         there from suspend to resume
#       request           why the job is to end: CANCELED or TIMEOUT
#       problem           what kept the job from starting
#       ended             word, exit code, time and reason; once it is there, nothing changes
#       successors        the jobs that wait for this one
#       next              of an array: the place of the next task, a hint
#       ends              of an array: task, word, exit code, start, end and reason of each task that has ended
#                         process, timer, started, request and problem of a task have its index behind a dot
#   last                  the highest number given out, a hint
#   hosts/HOST/           homes are shared, processes are not: which of this host's jobs ...
#       queue/HUNDREDS/NUMBER  ... wait, by a hundred, so that the first of ten thousand is found soon,
#       held/NUMBER            ... are on hold,
#       blocked/NUMBER         ... wait for other jobs,
#       running/PROCESS        ... have a slot: the files of the workers, named after their process id and start time
#       arrays/NUMBER          ... are arrays of which a task has not ended
#       recent/MINUTE     what list prints of the jobs that ended in a minute, by the minutes since 1970
#       processors        how many slots there are for jobs that do not say, as the last worker counted them
#       clock             when somebody asked for the time last, as the system counts since its start, and the answer
#       cleaned           the hour in which old folders of jobs were removed last, since 1970
#
# A job that has not ended is one file, the line that list prints of it, and moves by rename: between the queue and the
# held jobs, and into the file of the worker that takes it, in place of the job before. Of several processes that want to
# move one, one succeeds, and killing any of them at any moment leaves everything somewhere. An array stays in the queue
# until its tasks have begun. A worker takes a task by creating the task's file process, as one alone can.

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
# the time of its start, which tells it from a later process with the same id. It fails when there is no such process;
# one that has ended and was not reaped is none.
look_up() {
	if [ -r /proc/self/stat ]; then
		{ read -r process_line <"/proc/$1/stat"; } 2>/dev/null || return 1
		process_line=${process_line##*) } # the name before it may hold anything
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

# note_process PID FILE: files are written once and in one piece, since a shell may read them byte by byte.
note_process() {
	look_up "$1"
	echo "$1 $process_start" >"$2"
}

# runs FILE reports whether the process noted in FILE still runs, and sets noted_process to its id, or to
# nothing where the file is not there yet.
runs() {
	noted_process=
	{ read -r noted_process noted_start <"$1"; } 2>/dev/null || noted_process=
	[ -n "$noted_process" ] && look_up "$noted_process" && [ "$process_start" = "$noted_start" ]
}

# is_noted NAME reports whether this process is the one noted in that file of the job, and sets noted_process as
# runs does. Where the folder was removed and its number given again, it is another one.
is_noted() {
	noted_process=
	{ read -r noted_process noted_start <"$folder/$1"; } 2>/dev/null
	[ "$noted_process" = $$ ]
}

# in_own_session COMMAND... replaces this process, which must not lead a process group: one that the shell
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

# Without setsid and perl only the shell's job control gives a background process a group of its own.
need_sessions() {
	command -v setsid >/dev/null 2>&1 || command -v perl >/dev/null 2>&1 || {
		{ set -m; } 2>/dev/null
		case $- in *m*) ;; *) refuse "local jobs need setsid, perl or a shell with job control" ;; esac
	}
}

# without_tabs TEXT sets text to it with blanks for the tabs, which separate the values of a job that is printed.
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

# now sets time to the seconds since 1970, and minute to the minutes. Within a tenth of a second, one process asks for it
# for all.
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

# pause waits a fifth of a second where sleep can, else a second, and adds it to waited, in tenths.
pause() {
	if sleep 0.2 2>/dev/null; then waited=$((waited + 2)); else
		sleep 1
		waited=$((waited + 10))
	fi
}

# --- the spool ---

find_spool() {
	case ${XDG_STATE_HOME-} in
	/*) spool=$XDG_STATE_HOME/rmctl/local ;;
	*) spool=$PWD/.local/state/rmctl/local ;; # commands of a definition run in the home directory
	esac
}

find_host() {
	{ read -r host </proc/sys/kernel/hostname; } 2>/dev/null || host=$(uname -n)
	place=hosts/$host
}

make_spool() {
	[ -d "$spool/$place/arrays" ] && return # which comes last
	for folder in jobs "$place/queue" "$place/held" "$place/blocked" "$place/running" "$place/recent" "$place/arrays"; do
		mkdir -p "$spool/$folder" || refuse "cannot create the spool folder $spool"
	done
	chmod 700 "$spool"
}

# is_unused: where a job's folder was removed, its place in a queue may still be there.
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

# read_entry FILE sets number to that of the job in the file, with an underscore and its index for a task; to nothing
# for a worker without one.
read_entry() {
	number=
	{ read -r number rest <"$1"; } 2>/dev/null
}

# take_number makes the folder of a new job and sets id and folder.
take_number() {
	last=
	{ read -r last <last; } 2>/dev/null
	# The last job's folder is never removed. Where there is none, the hint is absent or was written while it was
	# read.
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
	echo "$id" 1<>last # which is never empty, as it is with >
	folder=jobs/$id
}

# note_end WORD CODE REASON notes how the job or its task ended; CODE is - where it is not known. Each note is one write,
# so that who reads it sees all or nothing. Of ends that the list misses somebody asks.
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

# choose_task TASK: what follows is about a task of an array; about the whole job where TASK is empty.
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

# enqueue FILE moves a job into the queue, whose folder may be removed meanwhile.
enqueue() {
	for attempt in 1 2 3; do
		mv -f "$1" "$place/queue/$((id / 100))/$id" 2>/dev/null && return
		[ -e "$1" ] && mkdir -p "$place/queue/$((id / 100))" || return 1
	done
}

# read_slots NUMBER sets slots to how many jobs may run when that one does.
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

# count_workers sets workers to how many there are, and busy to how many of them run a job, beside this process.
count_workers() {
	workers=0 busy=0
	for file in "$place"/running/*; do
		[ -e "$file" ] && [ "$file" != "$own" ] || continue
		workers=$((workers + 1))
		[ ! -s "$file" ] || busy=$((busy + 1))
	done
}
own= # the file of this process, if it is a worker

# is_free reports whether fewer than slots workers run a job. Those that are gone do not count.
is_free() {
	count_workers
	[ "$busy" -ge "$slots" ] || return 0
	settle_workers
	count_workers
	[ "$busy" -lt "$slots" ]
}

# settle_workers settles the workers that are gone.
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

# settle FILE ends what is left of the job of a worker that is gone, after a reboot or a kill, notes that it is lost and
# frees its slot. It fails where the disk refuses the note, so that somebody tries again.
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
	elif [ -s "jobs/$number/ended" ]; then # it was killed when it was about to release these
		(id=$number folder=jobs/$number && release_successors)
	fi
	rm -f "$1"
}

# kill_session PID ends a process that in_own_session began, and what it runs. One that has only just begun has
# no group of its own yet, but may have it, and run something, before it is ended by itself.
kill_session() {
	kill -KILL "-$1" 2>/dev/null && return
	kill -KILL "$1" 2>/dev/null
	kill -KILL "-$1" 2>/dev/null
}

# dispatch starts a worker where there are fewer than the slots of the first job that waits.
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

# start_worker: what a shell runs in the background ignores the signals INT and QUIT, and so would its jobs. A worker runs
# jobs of several submissions, and has the variables of none. It gets no stream of the caller, who waits for their end.
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
	*[!0-9smhd:]*) refuse "$asked is not a time limit" ;;
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
		while [ "${count#0}" != "$count" ] && [ -n "${count#0}" ]; do count=${count#0}; done # 08 is no octal number
		case $count in '' | *[!0-9]*) refuse "$asked is not a time limit" ;; esac
		total=$((total + count * ${figure#* }))
	done
	[ "$total" -gt 0 ] || refuse "a time limit is at least one second"
	echo "$total"
}

# expand_path FILE DEFAULT sets path to the absolute path of an output file. In the names of folders that nobody
# asked for here, %j is just that.
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
	*"$newline"*) refuse "the name of a job, its directory and its files may not hold line breaks" ;;
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
		refuse "cannot write into $spool/$folder"
	}
	word=QUEUED
	entry="print_job"
	if [ -n "$array" ]; then # which is listed by its tasks, as long as it is in this folder
		entry=true
		true >"$place/arrays/$id" || refuse "cannot write into $spool/$place"
	fi
	if [ "${RMCTL_LOCAL_HOLD-}" = true ]; then
		"$entry" >"$place/held/$id"
	elif [ -n "$after" ]; then
		"$entry" >"$place/blocked/$id"
	else # its folder of the queue may be removed meanwhile
		queue=$place/queue/$((id / 100))
		until { "$entry" >"$queue/$id"; } 2>/dev/null; do
			[ "$waited" -lt 9 ] && mkdir -p "$queue" || break
			waited=$((waited + 1))
		done
		[ "$waited" -lt 9 ]
	fi || refuse "cannot write into $spool/$place"
	for number in $predecessors; do echo "$id" >>"jobs/$number/successors"; done
	unblock
	dispatch
	printf 'id=%s\noutput=%s\nerror=%s\nwhole=yes\n' "$id" "$output" "$error"
}

# read_array INDICES sets array to them without the %N for how many run at a time, which limits slots.
read_array() {
	slots=${RMCTL_LOCAL_SLOTS-} array=${1%\%*}
	case $array in *[!0-9,:-]*) refuse "$1 are not the indices of an array" ;; esac
	case $1 in
	*%*)
		count_processors
		[ "${1#*%}" -ge "${slots:-$processors}" ] || slots=${1#*%}
		;;
	esac
	place_task 1 || [ -z "$array" ] || refuse "$1 are not the indices of an array"
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

# read_predecessors CONDITIONS sets after to them, such as afterok:1:2,afterany:3, and predecessors to the jobs.
read_predecessors() {
	after=$1 predecessors=
	IFS=,:
	set -- $1
	unset IFS
	for word; do
		case $word in
		afterok | afterany) ;;
		*)
			case $word in *_*) false ;; esac && (id=$word && find_job) || refuse "the job cannot wait for job $word"
			predecessors="$predecessors $word"
			;;
		esac
	done
}

# find_words sets words to those of the command where the script is that one alone, which needs no shell, and no copy.
find_words() {
	words= third=
	{ IFS= read -r first && IFS= read -r words && ! IFS= read -r third; } <"$script" && [ "$first$third" = '#!/bin/sh' ] || words=
	case $words in
	'exec '*[!A-Za-z0-9\ ./_=:,+@%^\'-]* | 'exec -'*) words= ;;
	'exec '*) words=${words#exec } ;;
	*) words= ;;
	esac
}

# describe writes the folder of the job. Until it is queued this process stands for it: a submission that is killed
# half-way is lost.
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

# work runs jobs until none waits, and looks once more after it has removed its file: whoever submits a job counts on
# a worker that has one. It stays for a moment, as starting a worker takes longer than many a job.
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
			rm -f "$own"
		else
			exit 0
		fi
	done
}

# take_job moves the first job that waits into this worker's file, if it has a slot. Several workers may do so at the
# same time, so each counts again after it has taken one, and puts it back where there are too many.
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
			[ ! -e "$place/queue/$((id / 100))/$id" ] || return 1 # the disk refuses; not somebody who was faster
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

# read_next sets index to the place of the next task, or of an earlier one. Its file is empty while somebody writes it.
read_next() {
	index= looks=0
	while [ -e "$folder/next" ] && [ "$looks" -lt 99 ]; do
		read -r index <"$folder/next" && break
		looks=$((looks + 1))
	done
	index=${index:-1}
}

# take_task takes the next task of the array that is first in the queue. Where there is none any more the array leaves
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

# carry_out runs the job that this worker has taken, and notes how it ended.
carry_out() {
	now
	[ "$time" -ge "$submitted" ] || time=$submitted # a worker may be late by a tenth of a second
	echo "$time" >"$folder/started$part"
	case $- in
	*m*) # with job control, wait returns for a job that is only stopped, too
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
	[ -z "$job" ] || end_group "$job" # what the job left running in the background
	until note_how_it_ended || [ ! -d "$folder" ]; do
		sleep 1 # a full disk may have room again
	done
	runs "$folder/timer$part" && kill_session "$noted_process"
	: >"$own"
	if [ -n "$task" ]; then
		choose_task ''
		[ -e "$place/queue/$((id / 100))/$id" ] || end_array
	fi
	remove_old
}

# run becomes the job's first process, which leads the job's process group. It notes itself, and then looks
# whether it is to end; who wants it to end first says so, and then looks whether it is noted. A job that cannot
# be noted, on a full disk or because its folder is gone, could not be ended.
run() {
	if [ -r /proc/self/stat ]; then read -r process rest </proc/self/stat; else process=$(exec sh -c 'echo $PPID'); fi
	note_process "$process" "$folder/process$part" || cannot "write into $spool/$folder"
	[ ! -s "$folder/request" ] && [ ! -s "$folder/request$part" ] && [ ! -s "$folder/ended" ] || exit 143
	if [ -n "$limit" ]; then # by a process between, so that the timer is no child of the job
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
	else # The first line says what runs it; running it by itself would need a file system that allows that.
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

# spread COUNT COMMAND... runs a command several times at once, and ends with the first exit code by rank that is not 0. Only
# rank 0 has the input. Whoever signals the process group reaches each of them; this process only waits for them. Shells other
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

# expand_index FILE sets path to the file of a task, whose index takes the place of %a.
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
		reason= # the code says it
		is_signal "$code" && reason=$(kill -l $((code - 128))) && reason=${reason:+SIG$reason}
		{ IFS= read -r reason <"$folder/problem$part"; } 2>/dev/null
		note_end FAILED "$code" "$reason"
		;;
	esac
}

# is_signal CODE: a shell says 128 and the signal's number for a process that a signal ended. No system
# has more than 64 signals.
is_signal() {
	[ "$1" != - ] && [ "$1" -gt 128 ] && [ "$1" -le 192 ]
}

# group_runs PID reports whether a process of the group still runs. Dead ones that nobody reaps do not count,
# where the process table can be asked for groups.
group_runs() {
	kill -0 "-$1" 2>/dev/null || return 1
	table=$(ps -A -o pgid= -o stat= 2>/dev/null) || return 0
	case $table in
	*"$1"*) printf '%s\n' "$table" | grep -q "^ *$1  *[^ZX]" ;;
	esac
}

# end_group PID asks a process group to end, and kills what is left of it after the grace period. A stopped
# process gets the request when it goes on.
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

# request_end WORD notes why a job is to end; the first one counts.
request_end() {
	set -C
	{ echo "$1" >"$folder/request$part"; } 2>/dev/null
	set +C
}

# expire FIRST ends the job at its time limit; FIRST is the job's first process. It outlives the worker, so that
# the limit holds until somebody finds that the worker is gone.
expire() {
	note_process $$ "$folder/timer$part"
	first=$1
	look_up "$first" && [ ! -s "$folder/ended" ] || exit 0 # it was faster
	first_start=$process_start
	over=$(($(date +%s) + limit)) remaining=$limit
	until sleep "$remaining"; do
		[ $? -gt 128 ] || break # else somebody has killed what sleeps
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

# finish ends a running job, for cancel and expire, and stays until it has ended.
finish() {
	while runs "$folder/process$part"; do
		leads_group && end_group "$noted_process" && return
		pause
	done
}

# leads_group reports whether the noted process has begun its session: it notes itself before.
leads_group() {
	kill -0 "-$noted_process" 2>/dev/null
}

# remove_old removes, once an hour, the folders of jobs that ended more than a week ago. It spares the last job, from
# which the numbers go on.
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

# --- what can be asked of a job ---

# find_worker succeeds where a worker has the job. It settles workers that are gone.
find_worker() {
	for file in "$place"/running/*; do
		read_entry "$file"
		[ "$number" = "$id" ] || continue
		works "$file" && return
		settle "$file"
	done
	return 1
}

# find_state sets word to where the job stands. A job may move between two looks, so where nothing is found, it
# looks again. Then it has ended meanwhile, or it was not queued: its submission goes on, or was killed before.
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
			elif [ -n "$noted_process" ]; then # the worker is about to note its end
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

# judge_process sets word by the state of the job's first process. A shell that was stopped while it started
# a program may wait (D) for its new, stopped process instead of being stopped itself (T).
judge_process() {
	word=RUNNING
	case $process_state in
	[Tt]*) word=SUSPENDED ;;
	D*) [ -e "$folder/suspended" ] && word=SUSPENDED ;;
	esac
}

no_such_job() {
	printf 'there is no job %s\n' "$id" >&2
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
		printf 'job %s runs on %s, which has to be asked for it\n' "$id" "$job_host" >&2
		exit 46
	}
}

# is_over reports whether the word is that of an end.
is_over() {
	case $word in
	COMPLETED | FAILED | CANCELED | TIMEOUT | LOST) ;;
	*) return 1 ;;
	esac
}

# print_array prints a line for each state and exit code that tasks have, with their indices. What waits comes first, as
# it may change meanwhile.
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

# print_job prints what is known of the job.
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

# print_line ID prints a line with the columns that the reader jobs in local.xml names.
print_line() {
	set -- "$1" "$array" "$word" "${code#-}" "$submitted" "$started" "$ended" "$job_host" "$tag" "$reason" "$name"
	IFS=$tab
	printf '%s\n' "$*"
	unset IFS
}

# end_array notes the end of an array whose tasks have all ended: the first that any of them has of these.
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

# --- jobs that wait for others ---

# unblock moves a job that waits for others into the queue when these have ended, or cancels it.
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

# release_successors looks at the jobs that wait for this one.
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


# list prints the jobs that have not ended, and then those that have meanwhile or did before in this minute or
# the last.
list() {
	cd "$spool" 2>/dev/null || return 0 # nobody has submitted a job
	now
	for entry in "$place"/queue/*/* "$place"/held/* "$place"/blocked/*; do # where a job's folder was removed
		[ -d "jobs/${entry##*/}" ] || case ${entry##*/} in *[!0-9]*) ;; *) rm -f "$entry" ;; esac
	done
	find "$place/queue" "$place/blocked" -type f -exec cat {} + 2>/dev/null
	find "$place/held" -type f -exec sed "s/^\([0-9]*$tab$tab\)QUEUED$tab/\1HELD$tab/" {} + 2>/dev/null
	for file in "$place"/running/*; do
		read_entry "$file"
		case $number in '' | *_*) continue ;; esac
		( # which may find that there is no such job any more
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
	cat "$place/recent/$((minute + 1))" 2>/dev/null # which may have begun
	remove_old_ends
	dispatch # should whoever was to start a worker have been killed
}

remove_old_ends() {
	for file in "$place"/recent/*; do
		case ${file##*/} in *[!0-9]*) continue ;; esac
		[ "${file##*/}" -ge $((minute - 1)) ] || rm -f "$file"
	done
}

# count_jobs prints how many jobs run and how many wait. Held ones wait, too.
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

# find_tag prints the number of the job of a submission and where its output is, or that there is none: nothing at all is no answer. What
# could not be looked through may have it.
find_tag() {
	case $id in '' | *[!0-9a-fA-F-]*) refuse "$id is not the tag of a submission" ;; esac
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
	*) refuse "cannot look through all jobs below $spool" ;;
	esac
}

show() {
	unblock
	find_state
	[ ! -e "$place/arrays/$id" ] || end_array
	print_job
	# Should whoever was to start a worker have been killed.
	[ "$word" != QUEUED ] || dispatch
}

# show_several prints those of some jobs, separated by commas, that there are and can be told of.
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

# has_ended answers what is asked of a job that has ended.
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
	STARTING | RUNNING | SUSPENDED) refuse "job $id has started and cannot be held; suspend it instead" ;;
	QUEUED) refuse "cannot move job $id to the held jobs" ;;
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
	HELD) refuse "cannot move job $id to the waiting jobs" ;;
	QUEUED | STARTING | RUNNING | SUSPENDED) refuse "job $id is not on hold" ;;
	*) has_ended ;;
	esac
}

# wait_until WORD: a signal takes effect when the process next gets a processor, and whoever asks for the
# state after suspend or resume is to see what came of it.
wait_until() {
	while runs "$folder/process"; do
		judge_process
		[ "$word" = "$1" ] && return
		[ "$waited" -lt 100 ] || refuse "job $id was told to change, but is $word still"
		pause
	done
}

suspend() {
	[ -z "$array" ] || refuse "job $id is an array; its tasks cannot be suspended"
	find_state
	case $word in
	SUSPENDED) return ;;
	QUEUED | HELD) refuse "job $id has not started and cannot be suspended; hold it instead" ;;
	STARTING) refuse "job $id is just starting; try again" ;;
	RUNNING)
		echo >"$folder/suspended"
		kill -STOP "-$noted_process" 2>/dev/null || refuse "job $id is just ending"
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
		kill -CONT "-$noted_process" 2>/dev/null || refuse "job $id is just ending"
		wait_until RUNNING
		;;
	QUEUED | HELD | STARTING | RUNNING) refuse "job $id is not suspended" ;;
	*) has_ended ;;
	esac
}

# note_canceled ends a job that has left the queue without a turn.
note_canceled() {
	note_end CANCELED - canceled
}

# leave_queue takes a job out of the queue for good: then nobody can start it any more.
leave_queue() {
	for entry in "$place/queue/$((id / 100))/$id" "$place/held/$id" "$place/blocked/$id"; do
		mv -f "$entry" "$folder/canceled" 2>/dev/null && return
	done
	return 1
}

# cancel_array cancels an array, or a task of it.
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
		QUEUED | HELD) # it is just being submitted, held or released
			[ "$waited" -lt 100 ] || refuse "cannot take job $id out of the queue"
			pause
			;;
		*) has_ended ;;
		esac
	done
	note_canceled
	dispatch
}

# --- main ---

# The last line is read before anything runs, so the file may be replaced while it does.
main() {
	[ "${1-}" != spread ] || { shift && spread "$@"; } # in a script, for its program
	case $0 in /*) program=$0 ;; *) program=$PWD/$0 ;; esac
	verb=${1-} id=${2-} waited=0
	find_host
	case $verb in
	work | expire | finish) # started in the spool by this program itself
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
	*) refuse "usage: sh local.sh submit, list, count, find with a tag, or show, cancel, hold, release, suspend or resume with the number of a job" ;;
	esac
}

main "$@"
exit
