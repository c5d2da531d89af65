#!/usr/bin/perl

# The actions of the audit log: one list has all that the modules and svcctl write,
# and nothing else; documents name no others.

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

# What looks like an action between the quotes of an event's SQL.
my %OTHER = map { $_ => 1 } qw(audit.stream);

# What the contract's list leaves out.
my %BEYOND = map { $_ => 1 } qw(group.app_added group.app_removed
                               oauth.settings_updated);

# What it lists and nothing writes: "user.login" is in the log where a session is
# made, in its transaction; and who is refused by a token has no tenant, or tells
# nothing that the administrator who made the token does not know.  Events of
# those are as many as requests, of anybody.
my @NEVER = qw(auth.denied session.created);

my $ACTION = qr/[a-z_]+\.[a-z_]+/;


sub all { return sort keys %{ { map { $_ => 1 } @_ } } }


# The actions in the SQL of a text that writes events.

sub written {
    my ($text) = @_;

    return if $text !~ /INSERT INTO svc\.audit_event/;

    return grep { !/^svc\./ && !$OTHER{$_} } $text =~ /'($ACTION)'/g;
}


# --- the list ----------------------------------------------------------------------

# an action, and the type of what it is done to, if there is one

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

my %used = map { $_ => 1 } @modules, @scripts;

# as a value of a statement

for my $text (map { slurp($_) } glob 'ngx_svc_*/{,*/}*.c') {
    $used{$_} = 1 for $text =~ /"($ACTION)"/g;
}

is_deeply([ grep { !$used{$_} } @actions ], [], 'and each of it is written');


# --- what is said of them --------------------------------------------------------

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
