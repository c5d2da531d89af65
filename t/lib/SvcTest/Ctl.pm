package SvcTest::Ctl;

# Runs svcctl under each condition in which psql prints more than what it was
# asked for.
#
#     SvcTest::Ctl->each_condition([ 'tenants' => \&tenants ], ...);
#
# runs each part as a subtest of each condition, with a SvcTest::Ctl as its
# argument: {system}, a SvcTest of the condition's own whose nginx does not run yet,
# and {pg}, the conninfo of its database.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(run_apart run_user);


my @CONDITIONS = (
    { name => 'an ordinary session', warning => qr/\A\z/ },
    { name => 'another user in a folder that it may not enter, and a collation of'
              . ' another version',
      command => \&in_locked_folder, database => \&other_collation,
      warning => qr/\AWARNING:[^\n]*collation\ version[^\n]*\n
                    (?:(?:DETAIL|HINT):[^\n]*\n)*\z/x },
);


sub each_condition {
    my ($class, @parts) = @_;

    for my $condition (@CONDITIONS) {
        subtest $condition->{name} => sub {
            my $c = $class->new($condition);

            for my $part (@parts) {
                my ($name, $code) = @$part;

                subtest $name => $code, $c;
            }

            $c->{system}->done;
        };
    }
}


# svcctl is a copy that every user may read, because the checkout may be closed
# to others.

sub new {
    my ($class, $condition) = @_;

    my $s = SvcTest->new(redis => 0);
    my $root = $s->root;
    my $copy = $s->dir . '/copy';

    $s->pg->create;
    mkdir $copy, 0755 or die "$copy: $!\n";
    system('cp', '-r', "$root/conf", "$root/sql", $copy) == 0 or die "cp\n";

    my $self = bless { %$condition, system => $s, copy => $copy }, $class;

    $self->{pg} = $self->conninfo('svc');
    $self->{database}->($self, 'svc') if $self->{database};

    return $self;
}


# --- conditions --------------------------------------------------------------

# Puts the command into a folder that it may not enter.  Root may enter every
# folder, so as root it runs as the servers' user; another user closes the
# folder to itself.

sub in_locked_folder {
    my ($self, $command, %opt) = @_;
    my $folder = $self->{system}->dir . '/locked';

    mkdir $folder;
    chmod 0700, $folder or die "$folder: $!\n";

    return ($command, %opt, user => run_user(), cwd => $folder) if $> == 0;
    return ([ 'sh', '-c', 'chmod 0 . && exec "$@"', 'sh', @$command ], %opt,
            cwd => $folder);
}


# Makes the collation look as it does after an upgrade of the system's
# libraries.

sub other_collation {
    my ($self, $database) = @_;

    $self->{system}->sql("UPDATE pg_database SET datcollversion = '1'"
                         . " WHERE datname = '$database'");
}


# --- databases ---------------------------------------------------------------

sub conninfo {
    my ($self, $database) = @_;

    return $self->{system}->pg->conninfo('postgres')
           =~ s/dbname=\S+/dbname=$database/r;
}


# Creates a database with a collation that has a version, or a copy of another
# database.  Returns its conninfo.

sub database {
    my ($self, $name, $of) = @_;

    $self->{system}->sql("CREATE DATABASE $name TEMPLATE "
                         . ($of // "template0 LOCALE_PROVIDER icu ICU_LOCALE 'und'"));
    $self->{database}->($self, $name) if $self->{database};

    return $self->conninfo($name);
}


# Returns the rows of a query on a database, as lines.

sub rows {
    my ($self, $database, $query) = @_;
    my $rows = $self->{system}->pg->connect('postgres', $database)
               ->query($query);

    return join '', map { join('|', map { $_ // '' } @$_) . "\n" } @$rows;
}


# --- svcctl ------------------------------------------------------------------

# Runs svcctl.  Returns its output, exit status and errors.  Options for
# SvcTest::Process come first, and pg, the database (undef: none).  A folder
# among them replaces the condition's.

sub svcctl {
    my ($self, @args) = @_;
    my %opt = (pg => $self->{pg}, timeout => 120,
               ref $args[0] eq 'HASH' ? %{ shift @args } : ());
    my $pg = delete $opt{pg};
    my $command = [ "$self->{copy}/conf/svcctl",
                    defined $pg ? ('--pg', $pg) : (), @args ];

    ($command, %opt) = $self->{command}->($self, $command, %opt)
        if $self->{command} && !$opt{cwd};

    my ($status, $out, $err) = run_apart($command, %opt);

    return ($out, $status >> 8 || $status, $err);
}


# Tests that it succeeds, with nothing on stderr but the condition's warning,
# once.  Returns the output.

sub works {
    my ($self, $args, $name, $pg) = @_;
    my ($out, $rc, $err) = $self->svcctl({ pg => $pg // $self->{pg} }, @$args);

    is($rc, 0, $name) or diag($err);
    like($err, $self->{warning}, "$name: warnings are the operator's");
    is(scalar(() = $err =~ /^WARNING/mg), $self->{database} ? 1 : 0,
       "$name: once");
    $self->{system}->secret($out =~ /\b((?:svc|scim)_[\w-]{43})/g);

    return $out;
}


# Tests that it fails with a message of its own, and shows nothing else.

sub fails {
    my ($self, $args, $message, $name, $pg) = @_;
    my ($out, $rc, $err) = $self->svcctl({ pg => $pg // $self->{pg} }, @$args);

    isnt($rc, 0, "$name fails");
    is($out, '', "$name shows nothing");
    like($err, qr/^svcctl: $message/m, "$name says why");
    unlike($err, qr/\b(?:svc|scim)_[\w-]{43}/, "$name shows no token");
    unlike($err, qr/svcctl: line \d+: /, "$name is no fault of the script");
}


1;
