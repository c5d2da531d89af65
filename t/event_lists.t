#!/usr/bin/perl

# Shows that lists of events agree that stand apart from each other: the kinds of
# webhooks, what the outbox queues again, what outbound SCIM looks at, and what the
# statements write and requests tell of when they are committed.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest::Process qw(slurp);

BEGIN { require './ngx_svc_common/sql/sql.pl' }


my $ACTION = qr/[a-z_]+\.[a-z_]+/;

# Events of changes that a target can hear of, which outbound SCIM need not look at.
my %BESIDE = (
    'application.created' => 'it has no target yet',
    'application.deleted' => 'its target goes with it',
    'federation.linked' => 'it is told beside user.created, or changes nobody',
    'group_password_policy.deleted' => 'it is told beside group.deleted',
    'invitation.accepted' => 'it is told beside user.created',
    'tenant.created' => 'a new tenant has no target',
);

my $statements = Svc::Sql::read_all('.');
my %source = map { $_ => slurp($_) } split /\n/, `find ngx_svc_* -name '*.[ch]'`;


sub none {
    my ($name, @wrong) = @_;

    ok(!@wrong, $name) or diag(join "\n", @wrong);
}


sub missing {
    my ($of, $in, $why) = @_;

    my %in = map { $_ => 1 } @$in;

    return map { "$_ $why" } grep { !$in{$_} } @$of;
}


sub source {
    my ($name) = @_;

    my ($file) = grep { m{/\Q$name\E$} } keys %source;

    return $source{ $file // die "there is no $name\n" };
}


# Returns the actions that a statement names.

sub named {
    my ($s) = @_;

    return sort keys %{ { map { $_ => 1 } grep { !/^svc\./ } $s->{text} =~ /'($ACTION)'/g } };
}


# Returns those of the events that it writes.

sub written {
    my ($s) = @_;

    return $s->{text} =~ /INSERT INTO svc\.audit_event/ ? named($s) : ();
}


# --- the kinds of webhooks ----------------------------------------------------------

my ($enum) = source('ngx_svc_event.h') =~ /typedef enum \{(.*?)\} ngx_svc_event_e;/s;
my @kinds = $enum =~ /NGX_SVC_EVENT_(\w+)/g;
my ($list) = source('ngx_svc_event.c') =~ /ngx_svc_event_names\[\] = \{(.*?)\};/s;
my @names = $list =~ /"($ACTION)"/g;

cmp_ok(scalar @kinds, '>', 2, 'there are kinds of events');
is_deeply([ map { uc tr/./_/r } @names ], \@kinds,
          'the names in ngx_svc_event.c are those of the kinds, in their order');

my $contract = JSON::PP->new->utf8->decode(slurp('conf/openapi.json'));
my $said = $contract->{components}{schemas}{WebhookEvent}{enum};
my ($table) = slurp('ngx_svc_admin/README.md') =~ /^\| event \| when .*\n\|.*\n((?:\|.*\n)+)/m;
my @told = $table =~ /^\| `($ACTION)` \|/mg;

none('the contract has the events of webhooks',
     missing(\@names, $said, 'is not in WebhookEvent of conf/openapi.json'),
     missing($said, \@names, 'is in WebhookEvent of conf/openapi.json, and is no event'));
none('ngx_svc_admin/README.md has them',
     missing(\@names, \@told, 'is not in the table of ngx_svc_admin/README.md'),
     missing(\@told, \@names, 'is in the table of ngx_svc_admin/README.md, and is no event'));


# --- the outbox ---------------------------------------------------------------------

my $look = $statements->{webhook_outbox_look}{text};
my ($again) = $look =~ /event\.action IN \(([^()]*)\)/;
my @again = $again =~ /'($ACTION)'/g;

none('the outbox queues them again',
     missing(\@names, \@again, 'is not in webhook_outbox_look: it would not be queued again'),
     missing(\@again, \@names, 'is in webhook_outbox_look, and is no event'));


# --- what requests tell of when they are committed -------------------------------------

# A function: its text, the functions and statements that it names, whether it is called
# with the results of what was committed, and the functions that it hands them to.

my %function;

for my $file (grep { /\.c$/ } keys %source) {
    while ($source{$file} =~ /^(\w+)(\([^{};]*\)\n\{\n.*?^\})/msg) {
        my ($name, $text) = ($1, $2);

        $function{$name} = { text => $text, file => $file,
                             hook => scalar $text =~ /^\(const ngx_svc_pg_results_t \*/,
                             names => { map { $_ => 1 } $text =~ /\b(ngx_\w+)/g },
                             handed => { map { $_ => 1 }
                                         $text =~ /\b(ngx_\w+)\(results\b/g } };
    }
}


# Whether a function, or one that it calls, tells of a kind of event.

sub tells {
    my ($name, $kind, $seen) = @_;

    my $f = $function{$name};

    return 0 if !$f || $seen->{$name}++;
    return 1 if $f->{text} =~ /\bngx_svc_event_emit\(/
                && $f->{text} =~ /\.kind = NGX_SVC_EVENT_$kind;/;

    return scalar grep { tells($_, $kind, $seen) } keys %{ $f->{names} };
}


# Whether a function of what was committed looks at the results of a statement and tells of
# a kind of event, or hands all results to one that does both.

sub tells_of {
    my ($name, $sql, $kind, $seen) = @_;

    my $f = $function{$name};

    return 0 if !$f || !$f->{hook} || $seen->{$name}++;
    return 1 if $f->{names}{$sql} && tells($name, $kind, {});

    return scalar grep { tells_of($_, $sql, $kind, $seen) } keys %{ $f->{handed} };
}


# The routes that have a statement in their table, with what they call when committed.

sub routes {
    my ($name) = @_;

    my @routes = map { /^    \{ \.?\w.*?(?:\},\n\n|\z)/msg } values %source;

    return map { /\.committed = (\w+)/ ? $1 : 'nothing' }
           grep { /\.statements = \{[^{}]*&ngx_svc_sql_$name\b/ } @routes;
}


# Whether a text runs a statement: whoever looks at its result does not.

sub runs {
    my ($text, $sql) = @_;

    return $text =~ s/\bngx_svc_result\(sr,\s*&$sql\)//gr =~ /&$sql\b/;
}


# The files that run a statement, and have none of some functions.

sub files_without {
    my ($sql, @hooks) = @_;

    my %has = map { $function{$_}{file} => 1 } @hooks;
    my @files = grep { /\.c$/ && !$has{$_} && runs($source{$_}, $sql) } sort keys %source;

    return map { s{.*/}{}r } @files;
}


# The functions of what was committed that a function names which runs a statement.

sub hooks_beside {
    my ($sql) = @_;

    my @run = grep { !$_->{hook} && runs($_->{text}, $sql) } values %function;

    return grep { $function{$_} && $function{$_}{hook} } map { keys %{ $_->{names} } } @run;
}


my (@untold, %emitted);

for my $s (map { $statements->{$_} } sort keys %$statements) {
    my %writes = map { $_ => 1 } written($s);
    my $sql = "ngx_svc_sql_$s->{name}";

    for my $name (grep { $writes{$_} } @names) {
        my $kind = uc $name =~ tr/./_/r;
        my %hooks = map { $_ => 1 } grep { tells_of($_, $sql, $kind, {}) } keys %function;

        push @untold, "$s->{name} writes $name, and does not return its subscribers"
            if $s->{text} !~ /\b_?subscribers\b/;
        push @untold, map { "$_ has $s->{name}, which writes $name, and no function of what was"
                            . " committed that emits NGX_SVC_EVENT_$kind with its results" }
                      files_without($sql, keys %hooks);
        push @untold, map { "$s->{name} writes $name, and what runs it has $_ as committed" }
                      grep { !$hooks{$_} } routes($s->{name}), hooks_beside($sql);

        $emitted{$name} = 1;
    }
}

none('who writes an event of webhooks tells of it', @untold);
none('each is written', missing(\@names, [ keys %emitted ], 'is written by no statement'));


# --- outbound SCIM ------------------------------------------------------------------

# What a target can hear of is what the fragment push_scoped reads: columns by table.

my $scoped = join ' ', map { $_->{text} =~ s/--.*//r }
                       @{ $Svc::Sql::fragments{push_scoped}{body} };
my %alias = (application => 'client', $scoped =~ /\bFROM svc\.(\w+) (\w+)/g);
my %heard = map { $_ => { map { $_ => 1 } $scoped =~ /\b$alias{$_}\.(\w+)/g } } keys %alias;

is_deeply([ sort keys %heard ], [ qw(application group_app group_member user_account) ],
          'a target hears of users, of groups, and of what applications let in');


# Tables whose rows take rows of those with them.

my $schema = join "\n", map { slurp($_) } sort glob 'sql/0*.sql';
my %parent;

for my $table (keys %heard) {
    my ($body) = $schema =~ /^CREATE TABLE svc\.$table \((.*?)^\)/ms
        or die "there is no table svc.$table\n";

    $parent{$_} = 1 for $body =~ /REFERENCES svc\.(\w+)(?: \([^()]*\))? ON DELETE CASCADE/g;
}

ok($parent{user_group}, 'members go with a group');


# Returns the tables of which a statement changes what targets hear of.

sub changed {
    my ($text) = @_;

    my @tables = grep { $heard{$_} } $text =~ /\bINSERT INTO svc\.(\w+)/g;

    push @tables, grep { $heard{$_} || $parent{$_} } $text =~ /\bDELETE FROM svc\.(\w+)/g;

    while ($text =~ /\bUPDATE svc\.(\w+)(?: AS)?(?: \w+)? SET /g) {
        my $table = $1;

        push @tables, $table
            if $heard{$table}
               && grep { $heard{$table}{$_} } set_columns(substr $text, pos $text);
    }

    return sort keys %{ { map { $_ => 1 } @tables } };
}


# Returns the columns that stand before "=" in a SET, one by one or as a row.

sub set_columns {
    my ($text) = @_;

    my ($depth, $of, @columns) = (0, '');

    while ($text =~ /\G('(?:[^']|'')*'|\w+|.)/gs) {
        my $word = $1;

        $depth += ($word eq '(') - ($word eq ')');
        last if $depth < 0 || !$depth && $word =~ /^(?:FROM|WHERE|RETURNING)$/;

        if (!$depth && $word eq ',') {
            push @columns, $of;
            $of = '';

        } else {
            $of .= $word;
        }
    }

    return map { s/=.*//sr =~ /\w+/g } @columns, $of;
}


is_deeply([ set_columns("a = (SELECT x, y FROM z), (b, c) = (1, ','), d = 5 WHERE e = 6") ],
          [ qw(a b c d) ], 'columns of a SET');

my %looked = map { $_ => 1 } named($statements->{push_log});
my %followed = map { $_ => 1 } named($statements->{push_follow});
my (@unheard, %changing, %used);

for my $s (map { $statements->{$_} } sort keys %$statements) {
    my @tables = changed($s->{text});
    my @written = written($s);

    next if !@tables || $s->{name} =~ /^push_/;

    push @unheard, "$s->{name} changes @tables, and writes no event" if !@written;

    for my $action (@written) {
        $changing{$action} = 1;
        $used{$action} = 1 if !$looked{$action};
        push @unheard, "$s->{name} changes @tables, and writes $action, which is not in push_log"
            if !$looked{$action} && !$BESIDE{$action};
    }
}

none('outbound SCIM looks at what changes the users of an application', @unheard);
none('and at nothing else',
     missing([ sort keys %looked ], [ keys %changing ],
             'is in push_log, and no statement that changes users writes it'));
none('what makes it look is what it then follows',
     missing([ sort keys %looked ], [ keys %followed ], 'is in push_log, and not in push_follow'),
     missing([ sort keys %followed ], [ keys %looked ], 'is in push_follow, and not in push_log'));
none('each exception is one',
     missing([ sort keys %BESIDE ], [ keys %used ], 'need not be listed here'));

done_testing();
