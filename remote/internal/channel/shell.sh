# What every shell that serves a channel knows. POSIX, and read as a whole, so
# that it may have as many lines as it likes.
#
# Descriptor 3 is the channel's error stream, 4 its output. What the shell itself
# says, about children that were killed for one, goes nowhere.
exec 3>&2 4>&1 2>/dev/null
unset CDPATH IFS
rmctl_setsid=$(command -v setsid)
rmctl_perl=
[ -n "$rmctl_setsid" ] || rmctl_perl=$(command -v perl)
rmctl_env=$(command -v env)

# rmctl_m is the marker of the command that runs.
rmctl_report() {
	printf '\036%s %s\n' "$rmctl_m" "$*" >&4
}
# These two report the end of the command in its own output.
rmctl_exit() {
	printf '\036%s exit %s\n' "$rmctl_m" "$1"
}
rmctl_flushed() {
	printf '\036%s flushed\n' "$rmctl_m"
}
rmctl_end() {
	rmctl_report end
	printf '\036%s end\n' "$rmctl_m" >&3
}
rmctl_fail() {
	rmctl_report failed "$@"
	exit 0
}

rmctl_enter() {
	cd "$1" && return
	[ -e "$1" ] || rmctl_fail no-directory
	[ -d "$1" ] || rmctl_fail not-directory
	rmctl_fail closed-directory
}

# rmctl_find PROGRAM PATH KNOWN sets rmctl_p. KNOWN is not empty when the program
# ran before: then its first line is not looked at, which costs a system call per
# byte in some shells.
rmctl_find() {
	rmctl_p=
	case $1 in
	/*) rmctl_p=$1 ;;
	*/*) rmctl_p=./$1 ;;
	esac
	if [ -n "$rmctl_p" ]; then
		[ -e "$rmctl_p" ] || rmctl_fail no-file
		rmctl_usable || rmctl_fail closed-program
	else
		rmctl_search "$1" "$2"
	fi
	# What to ask sh for where env would take the path for a variable.
	rmctl_q=
	case $rmctl_p in
	*=*) rmctl_q='exec "$0" "$@"' ;;
	esac
	[ -n "$3" ] || rmctl_interpreter
}
rmctl_usable() {
	[ -f "$rmctl_p" ] && [ -x "$rmctl_p" ]
}
# Relative directories are left out: files in the working directory shall not
# pose as the scheduler's commands.
rmctl_search() {
	rmctl_r=$2:
	rmctl_closed=
	while [ -n "$rmctl_r" ]; do
		rmctl_d=${rmctl_r%%:*}
		rmctl_r=${rmctl_r#*:}
		case $rmctl_d in
		/*)
			rmctl_p=$rmctl_d/$1
			rmctl_usable && return
			[ -e "$rmctl_p" ] && rmctl_closed=1
			;;
		esac
	done
	[ -z "$rmctl_closed" ] || rmctl_fail closed-program
	rmctl_fail no-program "$2"
}
# The shell notices a missing interpreter only after it has reported the start.
rmctl_interpreter() {
	IFS= read -r rmctl_l <"$rmctl_p" || return
	case $rmctl_l in
	'#!'*)
		set -f
		set -- ${rmctl_l#??}
		[ -e "$1" ] || rmctl_fail no-interpreter
		;;
	esac
}

# rmctl_start WORDS... becomes the program, in a group of its own.
rmctl_start() {
	rmctl_x=
	if ! read -r rmctl_pid rmctl_x rmctl_x rmctl_parent rmctl_x </proc/self/stat; then
		rmctl_pid=$(exec sh -c 'echo $PPID')
		rmctl_parent=0
	fi
	rmctl_report started "$rmctl_pid" "$rmctl_parent"
	exec 4>&-
	if [ -n "$rmctl_setsid" ]; then
		exec "$rmctl_setsid" "$@"
	elif [ -n "$rmctl_perl" ]; then
		exec "$rmctl_perl" -e 'setpgrp(0, 0); exec { $ARGV[0] } @ARGV; exit 127' -- "$@"
	fi
	exec "$@"
}
# rmctl_show WORDS... becomes the program on this shell's terminal.
rmctl_show() {
	rmctl_report started $$ 0
	exec 4>&-
	exec "$@"
}

# rmctl_farewell CODE reports the end of the program on this shell's terminal until
# the other side hangs up, for a minute. An interrupt key discards unread output, and
# so may the end of the last process on a terminal.
rmctl_farewell() {
	trap - HUP TERM
	trap '' INT QUIT
	rmctl_c=0
	while rmctl_report over "$1" && [ $rmctl_c -lt 60 ]; do
		rmctl_c=$((rmctl_c + 1))
		sleep 1
	done
}

# rmctl_signal GROUP PARENT SIGNAL... reaches the group as long as the process
# that leads it is the one that was started, where that can be known.
rmctl_signal() {
	rmctl_g=$1
	if [ "$2" != 0 ] && IFS= read -r rmctl_l <"/proc/$1/stat"; then
		rmctl_l=${rmctl_l##*') '}
		case $rmctl_l in
		"Z "*) ;;
		?" $2 "*) ;;
		*) return 1 ;;
		esac
	fi
	shift 2
	rmctl_c=0
	for rmctl_x; do
		kill "-$rmctl_x" "-$rmctl_g" || kill "-$rmctl_x" "$rmctl_g" || rmctl_c=1
	done
	return $rmctl_c
}

# rmctl_terminal LEADER group|session|rest SIGNAL... signals the processes on a terminal
# except the shell of ours that leads its session, and fails without any. Shells
# put their commands in groups of their own. The rest is what the program left, without
# the processes that the leader runs for itself.
rmctl_terminal() {
	rmctl_g=$1
	rmctl_w=$2
	shift 2
	rmctl_c=1
	if [ ! -r /proc/self/stat ]; then
		for rmctl_x; do
			kill "-$rmctl_x" "-$rmctl_g" && rmctl_c=0
		done
		return $rmctl_c
	fi
	# State, parent, group and session follow the name, which may be in any language.
	rmctl_r=
	rmctl_l="[^ZX] [0-9]* [0-9]* $rmctl_g"
	case $rmctl_w in
	group) rmctl_l="[^ZX] [0-9]* $rmctl_g [0-9]*" ;;
	rest) rmctl_r="/^[0-9]* (.*) [^ZX] $rmctl_g /d; " ;;
	esac
	# Processes end while they are listed: sed would end at the first of those.
	for rmctl_d in $(cat /proc/[1-9]*/stat | LC_ALL=C sed -n "${rmctl_r}s/^\([0-9]*\) (.*) $rmctl_l .*/\1/p"); do
		[ "$rmctl_d" != "$rmctl_g" ] || continue
		for rmctl_x; do
			kill "-$rmctl_x" "$rmctl_d" && rmctl_c=0
		done
	done
	return $rmctl_c
}

# rmctl_control passes on one command after the other, and runs lines that begin with
# an exclamation mark itself, while a command runs. The bytes of a command must not
# depend on the locale.
rmctl_control() {
	LC_ALL=C
	while IFS= read -r rmctl; do
		case $rmctl in
		!*) eval "${rmctl#?}" ;;
		*) printf '%s\n' "$rmctl" ;;
		esac
	done
}
# rmctl_answer NUMBER STATUS must not wait until the output is read, or the next signal
# would.
rmctl_answer() {
	(rmctl_report answer "$@") &
}
# rmctl_obey runs commands. They are children of a shell in the foreground, because
# children of a background one could not be interrupted. When that shell is killed,
# rmctl_control ends as well.
rmctl_obey() {
	IFS= read -r rmctl_g
	rmctl_end # before that nobody sends a command
	(while LC_ALL=C IFS= read -r rmctl; do eval "$rmctl"; done; exit 0) || kill "$rmctl_g"
}
rmctl_serve() {
	{
		rmctl_control <&5 5<&- &
		exec 5<&-
		echo "$!"
	} 5<&0 </dev/null | rmctl_obey
}

rmctl_report ready
printf '\036%s ready\n' "$rmctl_m" >&3
