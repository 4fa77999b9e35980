#!/bin/sh
# Installs Debian packages: install.sh package…
#
# The tests promise to run on a fresh machine that has Go and Debian's package
# manager and nothing else, so whoever finds a tool missing (the Makefile a C
# compiler, pgcluster a PostgreSQL server) calls this instead of giving up.
# It needs root, or a sudo that does not ask for a password.
set -eu

if ! command -v apt-get >/dev/null 2>&1; then
	echo "cannot install $*: there is no apt-get here; install it by hand" >&2
	exit 1
fi

if [ "$(id -u)" -ne 0 ]; then
	if sudo -n true 2>/dev/null; then
		exec sudo -n sh "$0" "$@"
	fi
	echo "cannot install $* without root; run: sudo apt-get install $*" >&2
	exit 1
fi

# apt-get update fails when another one runs instead of waiting for it, and go
# test starts several packages at once: one installation at a time, and those
# who waited find the work done.
lock=${TMPDIR:-/tmp}/pawl-apt.lock
# (Appending, because a truncation would follow a link that somebody left here.)
exec 9>>"$lock"
flock 9

installed() {
	for package in "$@"; do
		state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || return 1
		[ "$state" = installed ] || return 1
	done
}

if installed "$@"; then
	exit 0
fi

# Debian's postgresql package creates and starts a cluster of its own unless it
# is told not to. Nobody asked for that server. The note is taken away again,
# because what the administrator installs later is not our business.
note=/etc/postgresql-common/createcluster.d/pawl.conf
case " $* " in
*" postgresql "*)
	if [ ! -e "$note" ]; then
		mkdir -p "${note%/*}"
		echo "create_main_cluster = false" >"$note"
		trap 'rm -f "$note"' EXIT
	fi
	;;
esac

# Debian's nginx package starts a server on port 80. Nobody asked for that one either.
policy=/usr/sbin/policy-rc.d
case " $* " in
*" nginx "*)
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod +x "$policy"
		trap 'rm -f "$policy"' EXIT
	fi
	;;
esac

# The children must not keep the lock: a daemon that a package starts would
# hold it for ever.
export DEBIAN_FRONTEND=noninteractive
apt-get update 9>&-
apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 "$@" 9>&-
