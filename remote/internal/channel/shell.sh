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
# These two tell, in the output of the command itself, that it has ended.
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
# The shell could tell that an interpreter is missing only after the start was
# reported.
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

# rmctl_farewell CODE tells the end of the program on this shell's terminal until
# the other side hangs up, for a minute. The key for an interrupt discards what has
# not been read yet, and so may the end of the last process on a terminal.
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

# rmctl_terminal LEADER group|session|rest SIGNAL... reaches what runs on a terminal but
# for the shell of ours that leads its session, and tells the end of the rest. Shells on
# it put what they run in groups of their own. The rest is what the program left: what
# the leader runs for itself until the other side hangs up is none of it.
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

# rmctl_control hands on one command after the other, and obeys what begins with an
# exclamation mark itself, while a command runs. What becomes of a command's bytes
# must not depend on what language they are in.
rmctl_control() {
	LC_ALL=C
	while IFS= read -r rmctl; do
		case $rmctl in
		!*) eval "${rmctl#?}" ;;
		*) printf '%s\n' "$rmctl" ;;
		esac
	done
}
# rmctl_answer NUMBER STATUS must not wait for those who read the output of a
# command, or the next signal would.
rmctl_answer() {
	(rmctl_report answer "$@") &
}
# rmctl_obey runs commands. They are children of a shell that a background process
# is not: those could not be interrupted. When the one that runs them was killed,
# nobody shall wait for it.
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
