#!/usr/bin/perl

# Compares SCIM filters with an evaluation in another language, written from the
# RFC's text: t/oracle/scim_filter_oracle.py.  SVC_TEST_SEED gives other users
# and filters, SVC_TEST_CASES more of them, and SVC_TEST_SECONDS more time.

use strict;
use warnings;

use Test::More;

use SvcTest;
use SvcTest::Process qw(repeated);
use SvcTest::Skip;

needs(program => 'python3');

my $seed = $ENV{SVC_TEST_SEED} // 20261123;
my $cases = repeated(SVC_TEST_CASES => 3_000, 100_000);
my $seconds = $ENV{SVC_TEST_SECONDS} // ($cases > 3_000 ? 3600 : 6);
my $N = 150;
my $PREFIX = '01a07777';

my $s = SvcTest->new(workers => 1, scim => { svc_scim_mode => 'rfc' })->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my $oracle = $s->root . '/t/oracle/scim_filter_oracle.py';

# the same users in another tenant: nobody may find them

my $db = $s->connect_as('postgres');
my @columns = qw(id user_name external_id status first_name last_name display_name title
                 locale department created_at updated_at scim_deleted);

sub quoted {
    my ($text) = @_;

    return 'NULL' if $text eq '\N';

    my %plain = (t => "\t", n => "\n", r => "\r", '\\' => '\\');
    $text =~ s/\\(.)/$plain{$1}/g;

    return "'" . $text =~ s/'/''/gr . "'";
}


open my $rows, '-|', 'python3', $oracle, 'users', $seed, $N, $PREFIX or die "$!\n";
chomp(my @users = <$rows>);
close $rows;

is(scalar @users, $N, 'users');

for my $tenant ($acme, $globex) {
    $db->query("INSERT INTO svc.user_account (tenant_id, " . join(', ', @columns) . ') VALUES '
               . join ', ', map { my $row = $_;
                                  "('$tenant->{id}', "
                                  . join(', ', map { quoted($_) } split /\t/, $row, -1) . ')' }
                            @users);
    last if $tenant == $globex;
}

local $ENV{SCIM_TOKEN} = $acme->{scim_token};

open my $out, '-|', 'python3', $oracle, 'ask', $seed, $N, $PREFIX, '127.0.0.1:' . $s->port,
                    $s->base_url . '/scim/v2', $cases, $seconds or die "$!\n";
my @said = <$out>;
close $out;

is($?, 0, 'the oracle ends well');

my %n = (pop(@said) // '') =~ /(\w+)=(\d+)/g;

diag(@said) if @said;
note(join ', ', map { "$n{$_} $_" } sort keys %n);
is($n{differ}, 0, 'no answer differs');
cmp_ok($n{cases}, '>', 0, 'filters were asked') if $n{cases} < $cases;
cmp_ok($n{$_}, '>', $n{cases} / 50, "$_: often enough") for qw(refused nobody all some);

$s->done;
done_testing();
