#!/usr/bin/perl

# Shows that one list has all actions that the modules and svcctl write to the audit
# log, and no others, and that documents name no others.

use strict;
use warnings;

use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__) . '/bench';

use SvcBench::Statements;
use SvcTest::Process qw(slurp);
use SvcTest::Skip;


my $LIST = 'ngx_svc_common/sql/audit_actions.txt';
my $CONTRACT = '../shared/api.md';

# Strings in the SQL that writes events that look like actions and are none.
my %OTHER = map { $_ => 1 } qw(audit.stream);

# Actions that the contract's list leaves out.
my %BEYOND = map { $_ => 1 } qw(domain.sign_in_released domain.sign_in_required
                               domain.updated federation.denied federation.failed
                               federation.linked federation.tested
                               federation.unlinked group.app_added
                               group.app_removed ldap.sync_requested ldap.synced
                               oauth.settings_updated social.updated
                               webhook.redelivered);

# Actions that the contract lists and nothing writes. A sign-in writes "user.login" in
# the transaction that makes the session. A refused token has no tenant, or tells
# nothing that the administrator who made it does not know; and anybody could cause
# such events without limit.
my @NEVER = qw(auth.denied session.created);

my $ACTION = qr/[a-z_]+\.[a-z_]+/;
my $VALUE = qr/(?:[^(),]|(\((?:[^()]++|(?-1))*+\)))*?/;  # of a SELECT


sub all { return sort keys %{ { map { $_ => 1 } @_ } } }


# Returns the actions in the SQL of a text that writes events.

sub written {
    my ($text) = @_;

    return if $text !~ /INSERT INTO svc\.audit_event/;

    return grep { !/^svc\./ && !$OTHER{$_} } $text =~ /'($ACTION)'/g;
}


# Whether the SQL of a statement names the action of each event that it writes.

sub names_actions {
    my ($text) = @_;

    while ($text =~ /INSERT INTO svc\.audit_event(?: AS \w+)? \(([^()]*)\) SELECT (?=(.*))/g) {
        my ($columns, $values) = ($1, $2);
        my ($before) = $columns =~ /^(.*?)\baction\b/ or return 0;

        $values =~ s/^$VALUE,// for 1 .. $before =~ tr/,//;

        return 0 if $values !~ /^$VALUE(?:,| FROM\b)/ || $& !~ /'$ACTION'/;
    }

    return 1;
}


# --- the list ----------------------------------------------------------------------

# Each line is an action, and the type of its target, if it has one.

my @actions = slurp($LIST) =~ /^($ACTION)(?: [a-zA-Z]+)?$/mg;

is(scalar(grep { /^[^#\s]/ } split /\n/, slurp($LIST)), scalar @actions,
   'each line is an action');

my %known = map { $_ => 1 } @actions;

cmp_ok(scalar @actions, '>', 30, 'there are actions');
is_deeply(\@actions, [ all(@actions) ], 'sorted, and each of them once');
is_deeply([ grep { !/^$ACTION$/ } @actions ], [], 'each is a thing and a verb');


# --- what is written -------------------------------------------------------------

my $statements = SvcBench::Statements::read_all('.');
my @modules = map { written($_->{text}) } values %$statements;

is_deeply([ grep { !$known{$_} } all(@modules) ], [],
          'what the modules write is in the list');

my @scripts = map { written(slurp($_)) }
              glob 'conf/svcctl conf/svcctl.d/* sql/*.sql';

cmp_ok(scalar @scripts, '>', 3, 'svcctl writes some');
is_deeply([ grep { !$known{$_} } all(@scripts) ], [],
          'what svcctl and the functions of the database write is in it');

# A statement that names no action in place of the column has it from the C beside it.

my @from_c = map { slurp($_->{file} =~ s/sql$/c/r) } grep { !names_actions($_->{text}) }
             grep { $_->{text} =~ /INSERT INTO svc\.audit_event/ }
             values %{ Svc::Sql::read_all('.') };
my @passed = map { /"($ACTION)"/g } map { s/^#.*//mgr } @from_c;

cmp_ok(scalar @passed, '>', 5, 'C passes some');
is_deeply([ grep { !$known{$_} } all(@passed) ], [], 'what it passes is in the list');

# Wherever else C has a text that looks like one of the list, it is one.

my %thing = map { s/\..*//r => 1 } @actions;
my @texts = map { /"($ACTION)"/g } map { slurp($_) } split /\n/, `find ngx_svc_* -name '*.c'`;

is_deeply([ grep { !$known{$_} && $thing{s/\..*//r} } all(@texts) ], [],
          'and what C has of its things is in it');

my %used = map { $_ => 1 } @modules, @scripts, @passed;

is_deeply([ grep { !$used{$_} } @actions ], [], 'and each of it is written');


# --- what documents say of actions -----------------------------------------------

my $openapi = slurp('conf/openapi.json');
my @said = ($openapi =~ /"action": "($ACTION)"/g,
            $openapi =~ /events of this action, such as `($ACTION)`/);

for my $document (glob 'README.md conf/*.md ngx_svc_*/*.md t/*.md') {
    push @said, slurp($document) =~ /\baction=($ACTION)/g;
}

cmp_ok(scalar @said, '>', 3, 'documents name some');
is_deeply([ grep { !$known{$_} } all(@said) ], [], 'which are in the table');

SKIP: {
    -e $CONTRACT or skip_part("$CONTRACT is not beside the clone", 3);

    my ($line) = slurp($CONTRACT) =~ /^Actions: `([^`]*)`/m
        or die "$CONTRACT has no list of actions\n";
    my %listed;

    for my $word (split ' ', $line) {
        my ($thing, $verbs) = $word =~ /^([^.]+)\.\{?([^}]*)\}?$/;

        $listed{"$thing.$_"} = 1 for split /,/, $verbs;
    }

    is_deeply([ grep { !$listed{$_} && !$BEYOND{$_} } @actions ], [],
              'the contract lists them');
    is_deeply([ grep { !$known{$_} } sort keys %listed ], \@NEVER,
              'and no others, but those that are never written');
    is_deeply([ grep { $listed{$_} } sort keys %BEYOND ], [],
              'but those that are said to be beyond it');
}

done_testing();
