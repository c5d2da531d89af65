#!/bin/bash
# shellcheck disable=SC2154
#
# svcctl.8.sh: writes svcctl's manual page, in mdoc.  Commands and options come
# from svcctl.d/commands.sh; the rest of the text is here.

set -euo pipefail

export LC_ALL=C

here=$(dirname "$(readlink -f "$0")")
version=$(< "$here/version")

# shellcheck source=/dev/null
. "$here/svcctl.d/commands.sh"


# Prints lines of text: not too long, and without escapes or requests.

text() {
    fold -s -w 78 | sed -e 's/ *$//' -e 's/\\/\\e/g' -e 's/--/\\-\\-/g' -e "s/^[.']/\\\\\&&/"
}


# Prints an option, as arguments of .It and .Op; the function below prints a
# command's.

argument() {
    printf 'Fl \-%s%s' "${1//-/\\-}" "${value_of[$1]:+ Ar ${value_of[$1]}}"
}


synopsis() {
    local name allowed

    read -r _ allowed <<< "${commands[$1]} "

    for name in $allowed; do
        case $name in
            *!) printf '%s\n' ".$(argument "${name%!}")" ;;
            *)  printf '%s\n' ".Op $(argument "$name")" ;;
        esac
    done
}


command_entry() {
    printf '.It Xo\n.Cm %s\n' "${1//-/\\-}"
    synopsis "$1"
    printf '.Xc\n%s.\n' "${summary[$1]^}"
    text <<< "${details[$1]%$'\n'}"
}


cat <<MDOC
.Dd November 22, 2026
.Dt SVCCTL 8
.Os "ngx_svc $version"
.Sh NAME
.Nm svcctl
.Nd operate the database of ngx_svc
.Sh SYNOPSIS
.Nm
.Op $(argument pg)
.Ar command
.Op Ar option ...
.Nm
.Op Ar command
.Fl \-help
.Nm
.Fl \-version
.Sh DESCRIPTION
.Nm
brings the schema of ngx_svc's database up to date, and makes tenants, tokens
and what else an operator has to do.
It talks to PostgreSQL, with
.Xr psql 1 ,
to Redis with
.Xr redis-cli 1
about the fence, or to nobody, when all it needs are files, and needs no running
NGINX.
Its answer is on the standard output, alone; what PostgreSQL warns of is on
standard error.
.Pp
The commands are:
.Bl -tag -width Ds
MDOC

for name in "${order[@]}"; do
    command_entry "$name"
done

cat <<'MDOC'
.El
.Pp
Names, e-mail addresses and permissions are what the API takes.
A value that begins with
.Ql \-\-
is written
.Fl \-name Ns = Ns Ar VALUE .
.Pp
The options are:
.Bl -tag -width Ds
MDOC

for name in $(printf '%s\n' "${!meaning[@]}" help version | sort); do
    case $name in
        help)    printf '.It Fl h , Fl \-help\nShows how a command is used.\n' ;;
        version) printf '.It Fl \-version\nShows the version.\n' ;;
        *)       printf '.It %s\n%s.\n' "$(argument "$name")" \
                        "$(text <<< "${meaning[$name]^}")" ;;
    esac
done

cat <<'MDOC'
.El
.Sh ENVIRONMENT
.Bl -tag -width Ds
.It Ev SVC_PG
The conninfo, unless
.Fl \-pg
is given.
.It Ev PGHOST , Ev PGDATABASE , Ev PGUSER , Ev PGPASSFILE , No ...
Libpq's variables, for what the conninfo does not say.
.El
.Sh FILES
.Bl -tag -width Ds
.It Pa /usr/share/ngx_svc/sql/
The migrations.
.It Pa /usr/share/ngx_svc/svcctl.d/
The parts of
.Nm .
.It Pa /usr/share/ngx_svc/version
The version.
.It Pa /usr/share/doc/ngx_svc/conf/README.md
How to install, configure and run the modules.
.El
.Sh EXIT STATUS
.Bl -tag -width Ds
.It 0
It was done.
.It 1
It was refused, or failed; standard error says why.
The step that failed has changed nothing, unless the connection to PostgreSQL
was lost: then the message says so.
.It 2
No command was given.
.It 3
The password of
.Ql breached check
is known.
.El
.Sh EXAMPLES
As the system's user of the database's owner, on Debian:
.Bd -literal -offset indent
runuser \-u postgres \-\- svcctl \-\-pg "dbname=svc" migrate
.Ed
.Pp
A tenant whose tokens go into a file:
.Bd -literal -offset indent
(umask 077; svcctl tenant create \-\-slug acme \-\-name Acme \e
    \-\-owner ada@acme.example \-\-env > acme.env)
.Ed
.Pp
One of each command:
.Bd -literal -offset indent
MDOC

for name in "${order[@]}"; do
    printf 'svcctl %s\n' "${example[$name]//-/\\-}"
done

cat <<'MDOC'
.Ed
.Sh SEE ALSO
.Xr psql 1 ,
.Xr nginx 8
MDOC
