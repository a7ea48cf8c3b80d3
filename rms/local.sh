#!/bin/sh
# A batch system for one user of one machine: the program behind rms/local.xml.
#
#   sh local.sh submit                                              (reads RMCTL_LOCAL_*)
#   sh local.sh show|cancel|hold|release|suspend|resume NUMBER
#   sh local.sh find TAG     the job of a submission
#   sh local.sh list         the jobs of this machine that have not ended, or ended within the last minute or two
#   sh local.sh count        how many of them run and wait
#
# show and list print a line for each job, with the values of print_job. What list says of a job last counts: it may
# change while the list is made.
#
# Exit codes: 0 done, 1 refused, 44 no such job, 45 the job has ended, 46 ask the machine that runs it.
#
# Each job has a supervisor, a process in a session of its own that waits for the job's turn, runs it
# and notes how it ended. The spool, .local/state/rmctl/local in the home directory, holds
#
#   jobs/NUMBER/          a folder per job
#       description       what was submitted, one value per line
#       tag               of the submission
#       script            what to run
#       submitter         process id and start time of the process that submitted it
#       supervisor        process id and start time of the supervisor
#       wake              a pipe on which a waiting supervisor is told that it is its turn
#       process           process id and start time of the job's first process
#       timer             process id and start time of the process that ends the job at its time limit
#       started           when the job started
#       suspended         there from suspend to resume
#       request           why the job is to end: CANCELED or TIMEOUT
#       problem           what kept the job from starting
#       ended             word, exit code, time and reason; once it is there, nothing changes
#   last                  the highest number given out, a hint
#   hosts/HOST/           homes are shared, processes are not: which of this host's jobs ...
#       queue/NUMBER      ... wait,
#       held/NUMBER       ... are on hold,
#       running/NUMBER    ... have a slot
#       lock/             a token: the file is named "free", or after the process that has it
#       recent/MINUTE     what list prints of the jobs that ended in a minute, by the minutes since 1970
#
# Jobs and the token move by rename: of several processes that want to move one, one succeeds, and
# killing any of them at any moment leaves everything somewhere.

set -u
newline='
'
tab='	'

refuse() {
	printf '%s\n' "$1" >&2
	exit 1
}

# look_up PID sets process_state to the process's state, a letter, and process_start to the time of its
# start, which tells it from a later process with the same id. It fails when there is no such process;
# one that has ended and was not reaped is none.
look_up() {
	if [ -r /proc/self/stat ]; then
		{ read -r process_line <"/proc/$1/stat"; } 2>/dev/null || return 1
		process_line=${process_line##*) } # the name before it may hold anything
		set -- $process_line
		process_state=$1 process_start=${20}
	else
		process_line=$(ps -o stat= -o lstart= -p "$1" 2>/dev/null) || return 1
		set -- $process_line
		[ $# -gt 1 ] || return 1
		process_state=$1
		shift
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

# now sets time, and minute to the minutes since 1970.
now() {
	set -- $(date -u '+%Y-%m-%dT%H:%M:%SZ %s')
	time=$1 minute=$(($2 / 60))
}

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
	[ -d "$spool/$place/lock" ] && [ -d "$spool/$place/recent" ] && return
	mkdir -p "$spool/jobs" "$spool/$place/queue" "$spool/$place/held" "$spool/$place/running" "$spool/$place/recent" &&
		chmod 700 "$spool" || refuse "cannot create the spool folder $spool"
	# The token comes with its folder. Whoever comes second moves into the first one's folder.
	mkdir "$spool/$place/lock.$$" && : >"$spool/$place/lock.$$/free" &&
		mv "$spool/$place/lock.$$" "$spool/$place/lock" 2>/dev/null
	rm -rf "$spool/$place/lock.$$" "$spool/$place/lock/lock.$$"
	[ -d "$spool/$place/lock" ] || refuse "cannot create the folder $spool/$place/lock"
}

# is_unused: where a job's folder was removed, its place in a queue may still be there.
is_unused() {
	set -- jobs/"$id" hosts/*/*/"$id"
	[ ! -e "$1" ] && [ ! -e "$2" ]
}

# take_number makes the folder of a new job and sets id and folder.
take_number() {
	last=
	{ read -r last <last; } 2>/dev/null
	# The last job's folder is never removed. Where there is none, the hint is absent or was written while it was
	# read.
	case $last in *[!0-9]*) last= ;; esac
	[ -n "$last" ] && [ -d "jobs/$last" ] || {
		last=0
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
	echo "$id" >last
	folder=jobs/$id
}

read_description() {
	{
		IFS= read -r job_host && IFS= read -r name && IFS= read -r directory && IFS= read -r output &&
			IFS= read -r error && IFS= read -r slots && IFS= read -r limit && IFS= read -r grace &&
			IFS= read -r niceness && IFS= read -r job_umask && IFS= read -r submitted
	} 2>/dev/null <"$folder/description"
}

# note_end NUMBER WORD CODE REASON; CODE is - where it is not known. Each note is one write, so that who reads it
# sees all or nothing. What the list misses of an end somebody asks for.
note_end() {
	now
	printf '%s %s %s %s\n' "$2" "$3" "$time" "$4" >"jobs/$1/ended" || return
	(
		id=$1 folder=jobs/$1
		read_description && read_end && print_job >>"$place/recent/$minute"
	) 2>/dev/null || :
}

read_end() {
	{ read -r word code ended reason <"$folder/ended"; } 2>/dev/null
}

# --- whose turn it is ---

# settle_if_lost NUMBER succeeds for a job whose supervisor is gone, after a reboot or a kill, and for one whose
# folder was removed: it ends what is left of the job, notes the end and frees its slot. It fails where the
# disk refuses the note, too, so that somebody tries again.
settle_if_lost() {
	# In this order: whoever submitted the job has noted its supervisor before ending.
	runs "jobs/$1/submitter" && return 1
	runs "jobs/$1/supervisor" && return 1
	if [ -d "jobs/$1" ] && [ ! -s "jobs/$1/ended" ]; then
		runs "jobs/$1/timer" && kill_session "$noted_process"
		runs "jobs/$1/process" && kill -KILL "-$noted_process" 2>/dev/null
		note_end "$1" LOST - lost || return 1
	fi
	rm -f "$place/queue/$1" "$place/held/$1" "$place/running/$1"
}

# kill_session PID ends a process that in_own_session began, and what it runs. One that has only just begun has
# no group of its own yet, but may have it, and run something, before it is ended by itself.
kill_session() {
	kill -KILL "-$1" 2>/dev/null && return
	kill -KILL "$1" 2>/dev/null
	kill -KILL "-$1" 2>/dev/null
}

# find_next sets next to the lowest number that waits.
find_next() {
	next=
	for entry in "$place"/queue/*; do
		entry=${entry##*/}
		case $entry in *[!0-9]*) continue ;; esac
		if [ -z "$next" ] || [ "$entry" -lt "$next" ]; then next=$entry; fi
	done
	[ -n "$next" ]
}

count_running() {
	running=0
	for entry in "$place"/running/*; do
		entry=${entry##*/}
		case $entry in *[!0-9]*) continue ;; esac
		settle_if_lost "$entry" || running=$((running + 1))
	done
}

# find_startable sets next to the job whose turn it is and succeeds when there is a slot for it.
find_startable() {
	while find_next; do
		settle_if_lost "$next" || break
	done
	[ -n "$next" ] || return 1
	count_running
	[ "$running" -eq 0 ] && return
	next_slots=
	{ for line in host name directory output error slots; do IFS= read -r next_slots; done; } <"jobs/$next/description"
	if [ -z "$next_slots" ]; then
		: "${processors:=$(getconf _NPROCESSORS_ONLN 2>/dev/null || getconf NPROCESSORS_ONLN 2>/dev/null || echo 1)}"
		next_slots=$processors
	fi
	[ "$running" -lt "$next_slots" ]
}

# take_token and return_token: the token goes to one process at a time. The name of a holder that died
# is taken over by rename, which fails for all but one.
take_token() {
	look_up $$ || return 1
	token="$place/lock/$$ $process_start"
	[ -e "$place/lock/free" ] && mv -f "$place/lock/free" "$token" 2>/dev/null && return
	for holder in "$place"/lock/[0-9]*; do
		holder=${holder##*/}
		look_up "${holder%% *}" && [ "$process_start" = "${holder#* }" ] && continue
		mv -f "$place/lock/$holder" "$token" 2>/dev/null && return
	done
	return 1
}

return_token() {
	mv -f "$token" "$place/lock/free"
}

# dispatch gives the free slots to the jobs that wait, lowest number first. Who finds the token taken may
# go: its holder looks at the queue once more after it has returned it.
dispatch() {
	while find_startable; do
		take_token || return 0
		while find_startable; do
			if mv -f "$place/queue/$next" "$place/running/$next" 2>/dev/null; then
				wake "$next"
			elif [ -e "$place/queue/$next" ]; then # the disk refuses; not somebody who was faster
				return_token
				return 1
			fi
		done
		return_token
	done
}

# wake NUMBER: opening the pipe for both directions never waits for a reader.
wake() {
	[ -p "jobs/$1/wake" ] && { echo go 1<>"jobs/$1/wake"; } 2>/dev/null
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
	need_sessions
	make_spool
	cd "$spool" || exit 1
	take_number
	# Until the supervisor is noted this process stands for it: a submission that is killed half-way is lost.
	note_process $$ "$folder/submitter" || {
		rm -rf "$folder"
		refuse "cannot write into $spool/$folder"
	}
	expand_path "${RMCTL_LOCAL_OUTPUT-}" "$spool/$folder/stdout"
	output=$path
	expand_path "${RMCTL_LOCAL_ERROR-}" "$spool/$folder/stderr"
	error=$path
	now
	cp "$script" "$folder/script" || {
		rm -rf "$folder"
		refuse "cannot copy the job's script into $spool/$folder"
	}
	printf '%s\n' "$host" "$name" "$directory" "$output" "$error" "${RMCTL_LOCAL_SLOTS-}" "$limit" \
		"${RMCTL_LOCAL_GRACE:-10}" "${RMCTL_LOCAL_NICE-}" "$job_umask" "$time" >"$folder/description" || {
		rm -rf "$folder"
		refuse "cannot write into $spool/$folder"
	}
	# Before the job can run: a submission that nobody saw the end of is looked up by it.
	printf '%s\n' "${RMCTL_LOCAL_TAG-}" >"$folder/tag" || {
		rm -rf "$folder"
		refuse "cannot write into $spool/$folder"
	}
	queue=queue
	[ "${RMCTL_LOCAL_HOLD-}" = true ] && queue=held
	: >"$place/$queue/$id" || refuse "cannot write into $spool/$place/$queue"
	# The caller waits for the end of its streams, so the supervisor gets none of them.
	in_own_session sh "$program" supervise "$id" </dev/null >/dev/null 2>&1 &
	note_process $! "$folder/supervisor"
	printf 'id=%s\noutput=%s\nerror=%s\nwhole=yes\n' "$id" "$output" "$error"
}

# --- the supervisor ---

has_turn() {
	[ -e "$place/running/$id" ]
}

wait_for_turn() {
	dispatch
	has_turn && return
	# The pipe is open before the next look, so that no word on it is missed. Opening it to read alone
	# would wait for a writer.
	mkfifo "$folder/wake" 2>/dev/null && exec 4<>"$folder/wake" 3<"$folder/wake" 4<&-
	until is_wanted && has_turn; do
		if [ -p "$folder/wake" ]; then wait_for_word; else pause; fi
	done
	exec 3<&-
}

# is_wanted returns while the job is to run, and ends this process when it was canceled, when its folder was
# removed, or when that is another job's by now.
is_wanted() {
	[ ! -s "$folder/ended" ] && [ -d "$folder" ] || exit 0
	is_noted supervisor || [ -z "$noted_process" ] || exit 0
}

# wait_for_word returns when somebody has written into the pipe, or after ten minutes: nobody can write into one
# whose folder was removed. The sleeping process alone has it open for writing, so its end ends the wait.
wait_for_word() {
	exec 4<>"$folder/wake"
	sleep 600 >&4 3<&- 4<&- &
	exec 4<&-
	read -r word <&3
	kill $! 2>/dev/null
	wait $!
}

supervise() {
	wait_for_turn
	need_sessions
	now
	echo "$time" >"$folder/started"
	in_own_session sh "$program" run "$id" </dev/null >/dev/null 2>&1 &
	job=$!
	timer=
	if [ -n "$limit" ]; then
		in_own_session sh "$program" expire "$id" "$job" </dev/null >/dev/null 2>&1 &
		timer=$!
		look_up "$timer"
		timer_start=$process_start
	fi
	wait "$job"
	code=$?
	# With job control, wait returns for a job that is only stopped, too.
	case $- in *m*) while look_up "$job"; do
		pause
		wait "$job"
		code=$?
	done ;; esac
	[ -n "$timer" ] && look_up "$timer" && [ "$process_start" = "$timer_start" ] && kill_session "$timer"
	end_group "$job" # what the job left running in the background
	is_noted supervisor || [ -z "$noted_process" ] || exit 0 # its number is another job's
	until note_how_it_ended || [ ! -d "$folder" ]; do
		sleep 1 # a full disk may have room again
	done
	rm -f "$place/running/$id" "$folder/wake"
	dispatch
	case $id in *0) remove_old_jobs && remove_old_ends ;; esac
}

# run becomes the job's first process, which leads the job's process group. It notes itself, and then looks
# whether it is to end; who wants it to end first says so, and then looks whether it is noted. A job that cannot
# be noted, on a full disk or because its folder is gone, could not be ended.
run() {
	note_process $$ "$folder/process" || cannot "write into $spool/$folder"
	[ ! -s "$folder/request" ] && [ ! -s "$folder/ended" ] || exit 143
	script=$spool/$folder/script
	umask "$job_umask"
	cd "$directory" 2>/dev/null || cannot "enter the directory $directory"
	{ true >"$output"; } 2>/dev/null || cannot "write $output"
	{ true >>"$error"; } 2>/dev/null || cannot "write $error"
	exec >"$output"
	if [ "$error" = "$output" ] || [ "$error" -ef "$output" ]; then exec 2>&1; else exec 2>"$error"; fi
	for variable in TAG SCRIPT DIRECTORY EXECUTABLE NAME SLOTS TIME_LIMIT OUTPUT ERROR HOLD NICE UMASK GRACE; do
		unset "RMCTL_LOCAL_$variable"
	done
	unset LC_ALL # which rmctl sets for its own commands
	export RMCTL_JOB_ID="$id" RMCTL_JOB_NAME="$name"
	# The script's first line says what runs it; running it by itself would need a file system that allows that.
	read -r directive <"$script"
	set -f
	case $directive in '#!'*) set -- ${directive#??} "$script" ;; *) set -- sh "$script" ;; esac
	[ -z "$niceness" ] || set -- nice -n "$niceness" "$@"
	# A shell's background processes ignore these signals, and so would the job.
	if env --default-signal=INT,QUIT true 2>/dev/null; then
		set -- env --default-signal=INT,QUIT "$@"
	elif command -v perl >/dev/null 2>&1; then
		set -- perl -e '$SIG{INT} = $SIG{QUIT} = "DEFAULT"; exec { $ARGV[0] } @ARGV; print STDERR "$ARGV[0]: $!\n"; exit 127' "$@"
	fi
	exec "$@"
}

cannot() {
	without_tabs "cannot $1"
	echo "$text" >"$spool/$folder/problem"
	exit 126
}

note_how_it_ended() {
	request=
	{ read -r request <"$folder/request"; } 2>/dev/null
	case $request:$code in
	CANCELED:*) note_end "$id" CANCELED "$code" canceled ;;
	TIMEOUT:*) note_end "$id" TIMEOUT "$code" "time limit of $limit s reached" ;;
	*:0) note_end "$id" COMPLETED 0 '' ;;
	*)
		reason= # the code says it
		is_signal "$code" && reason=$(kill -l $((code - 128))) && reason=${reason:+SIG$reason}
		{ IFS= read -r reason <"$folder/problem"; } 2>/dev/null
		note_end "$id" FAILED "$code" "$reason"
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
	{ echo "$1" >"$folder/request"; } 2>/dev/null
	set +C
}

# expire FIRST ends the job at its time limit; FIRST is the job's first process. It outlives the supervisor, so that
# the limit holds until somebody finds that the supervisor is gone.
expire() {
	note_process $$ "$folder/timer"
	first=$1 first_start=
	look_up "$first" && first_start=$process_start
	[ ! -s "$folder/ended" ] || exit 0
	over=$(($(date +%s) + limit)) remaining=$limit
	until sleep "$remaining"; do
		[ $? -gt 128 ] || break # else somebody has killed what sleeps
		remaining=$((over - $(date +%s)))
		[ "$remaining" -gt 0 ] || break
	done
	if is_noted timer; then
		[ -s "$folder/ended" ] && exit 0
		request_end TIMEOUT
		finish
	elif look_up "$first" && [ "$process_start" = "$first_start" ]; then # the folder was removed
		end_group "$first"
	fi
}

# finish ends a running job, for cancel and expire, and stays until it has ended.
finish() {
	runs "$folder/process" && end_group "$noted_process"
}

# remove_old_jobs spares the last job, from which the numbers go on.
remove_old_jobs() {
	last=
	{ read -r last <last; } 2>/dev/null
	find jobs -name ended -mtime +7 2>/dev/null | while IFS= read -r mark; do
		mark=${mark%/ended}
		case ${mark#jobs/} in "$last" | *[!0-9]*) ;; *) rm -rf "$mark" ;; esac
	done
}

# --- what can be asked of a job ---

# find_state sets word to where the job stands. A job may move between two looks, so where nothing is found, it
# looks again. Then it has ended meanwhile, or it was not queued: its submission goes on, or was killed before.
find_state() {
	for attempt in 1 2 3; do
		read_end && return
		# Somebody who canceled it was killed half-way.
		[ -e "$folder/canceled" ] && note_canceled
		if [ -e "$place/running/$id" ]; then
			word=STARTING
			settle_if_lost "$id" && dispatch && continue
			if runs "$folder/process"; then
				judge_process
			elif [ -n "$noted_process" ]; then # the supervisor is about to note its end
				word=RUNNING noted_process=
			else # should the process that gave this job its turn have been killed before it said so
				wake "$id"
			fi
			return 0
		fi
		for entry in queue held; do
			[ -e "$place/$entry/$id" ] || continue
			settle_if_lost "$id" && dispatch && continue 2
			word=QUEUED
			[ "$entry" = held ] && word=HELD
			return 0
		done
	done
	settle_if_lost "$id"
	read_end && return
	# Whoever submits it is about to put it into the queue.
	word=QUEUED
	runs "$folder/submitter" || no_such_job
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
	case $id in '' | *[!0-9]*) no_such_job ;; esac
	cd "$spool" 2>/dev/null || no_such_job
	folder=jobs/$id
	read_description || no_such_job
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

# print_job prints what is known of the job in one line.
print_job() {
	tag= started=
	{ read -r tag <"$folder/tag"; } 2>/dev/null
	{ read -r started <"$folder/started"; } 2>/dev/null
	is_over || ended= code= reason=
	# The reader jobs in local.xml names these columns.
	set -- "$id" "$word" "${code#-}" "$submitted" "$started" "$ended" "$job_host" "$tag" "$reason" "$name"
	IFS=$tab
	printf '%s\n' "$*"
	unset IFS
}

# list prints the jobs that have not ended, and then those that have meanwhile or did before in this minute or
# the last.
list() {
	cd "$spool" 2>/dev/null || return 0 # nobody has submitted a job
	now
	for entry in "$place"/queue/* "$place"/held/* "$place"/running/*; do
		id=${entry##*/}
		case $id in *[!0-9]*) continue ;; esac
		( # which may find that there is no such job any more
			folder=jobs/$id
			[ -d "$folder" ] || settle_if_lost "$id"
			read_description && find_state 2>/dev/null && print_job
		)
	done
	dispatch || : # should the process that was to give a job its turn have been killed
	cat "$place/recent/$((minute - 1))" "$place/recent/$minute" 2>/dev/null
	cat "$place/recent/$((minute + 1))" 2>/dev/null # which may have begun
	remove_old_ends
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
	for list in running queue held; do
		set -- "$place/$list"/*
		[ -e "$1" ] || set --
		case $list in running) running=$# waiting=0 ;; *) waiting=$((waiting + $#)) ;; esac
	done
	printf 'queue=local running=%s waiting=%s\n' "$running" "$waiting"
}

# find_tag prints the number of the job of a submission, or that there is none: nothing at all is no answer. What
# could not be looked through may have it.
find_tag() {
	case $id in '' | *[!0-9a-fA-F-]*) refuse "$id is not the tag of a submission" ;; esac
	[ -e "$spool/jobs" ] || { echo none && return; }
	# The folder of a job that was never complete has no tag, and its job never runs.
	found=$(cd "$spool" && find jobs -name tag -exec sh -c 'grep -lxF -e "$0" "$@" || [ $? = 1 ] || echo /failed/' "$id" {} + || echo /failed/)
	printf '%s\n' "$found" | while IFS=/ read -r jobs number file; do
		[ "$jobs" != jobs ] || echo "id=$number tag=$id"
	done
	case $found in
	*jobs/*) ;;
	'') echo none ;;
	*) refuse "cannot look through all jobs below $spool" ;;
	esac
}

show() {
	find_state
	print_job
	# Should the process that was to give this job its turn have been killed.
	[ "$word" != QUEUED ] || dispatch
}

# has_ended answers what is asked of a job that has ended.
has_ended() {
	printf 'job %s has ended\n' "$id" >&2
	exit 45
}

hold() {
	mv -f "$place/queue/$id" "$place/held/$id" 2>/dev/null && dispatch && return
	find_state
	case $word in
	HELD) ;;
	STARTING | RUNNING | SUSPENDED) refuse "job $id has started and cannot be held; suspend it instead" ;;
	QUEUED) refuse "cannot move job $id to the held jobs" ;;
	*) has_ended ;;
	esac
}

release() {
	mv -f "$place/held/$id" "$place/queue/$id" 2>/dev/null && dispatch && return
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
	note_end "$id" CANCELED - canceled
	wake "$id"
}

# leave_queue takes a job out of the queue for good: then nobody can start it any more.
leave_queue() {
	for entry in queue held; do
		mv -f "$place/$entry/$id" "$folder/canceled" 2>/dev/null && return
	done
	return 1
}

cancel() {
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
	case $0 in /*) program=$0 ;; *) program=$PWD/$0 ;; esac
	verb=${1-} id=${2-} waited=0
	find_host
	case $verb in
	supervise | run | expire | finish) # started in the spool by this program itself
		spool=$PWD folder=jobs/$id
		read_description || exit 1
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
		find_job
		"$verb"
		;;
	*) refuse "usage: sh local.sh submit, list, count, find with a tag, or show, cancel, hold, release, suspend or resume with the number of a job" ;;
	esac
}

main "$@"
exit
