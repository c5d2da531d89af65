#!/usr/bin/perl

# The time of a refused sign-in does not tell whether the user exists, and
# neither does the time of the answer to a request for a forgotten password,
# or to one for the ways in of an address.  This test runs alone, because it cannot tell the time of a hash from the load
# of other processes.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Browser qw($PASSWORD with_password);
use SvcTest::Mail;
use SvcTest::Process qw(repeated wait_for write_file);
use SvcTest::Realm qw(verified saml oidc force);


my $s = SvcTest->new(workers => 1);
my $mail = SvcTest::Mail->new($s,
    svc_sign_in => 'on', svc_federation => 'on',
    svc_password_hash => 'memory=7m iterations=1',
    svc_set => [ 'RATE_LIMIT_LOGIN_IP_MAX 0', 'RATE_LIMIT_LOGIN_EMAIL_MAX 0',
                 'RATE_LIMIT_SIGNUP_IP_MAX 0', 'RATE_LIMIT_SIGNUP_EMAIL_MAX 0',
                 'LOGIN_LOCKOUT_MAX 0' ]);

$s->start;

my $acme = $s->tenant('acme');

$s->secret($PASSWORD);
with_password($s, $acme, userName => 'ada@acme.test');


sub login {
    my ($email, $password) = @_;

    return $s->http(POST => '/v1/auth/login', [],
                    { email => $email, password => $password // $PASSWORD,
                      tenant => 'acme' });
}


sub wrong { return (login($_[0], 'wrong')->status, 401) }


sub forgot {
    my ($email) = @_;

    return ($s->http(POST => '/v1/auth/password/forgot', [],
                     { email => $email, tenant => 'acme' })->status, 202);
}


# Asks for known and unknown addresses in turn.  Returns the probability that a
# known one takes longer than an unknown one: 0.5 tells nothing.

sub auc {
    my ($n, $ask, $known, $unknown) = @_;

    my %email = (known => $known, unknown => $unknown);
    my %time = (known => [], unknown => []);

    for my $i (1 .. $n) {
        for my $kind ($i % 2 ? qw(known unknown) : qw(unknown known)) {
            my $email = $email{$kind}->($i);
            my $since = time();
            my ($status, $expected) = $ask->($email);

            push @{ $time{$kind} }, time() - $since;
            is($status, $expected, $kind) if $status != $expected;
        }
    }

    my @all = sort { $a->[0] <=> $b->[0] }
              map { my $kind = $_; map { [ $_, $kind ] } @{ $time{$kind} } }
              keys %time;
    my $ranks = 0;

    $all[$_][1] eq 'known' and $ranks += $_ + 1 for 0 .. $#all;

    return ($ranks - $n * ($n + 1) / 2) / ($n * $n);
}


# --- our own hashes: a cheap one, so that the rest weighs more ------------------------

is(login('ada@acme.test')->status, 200, 'a hash of hers that is as cheap is stored');

# the bound around 0.5 is five times the deviation that chance makes with so
# many

my $n = repeated(SVC_TEST_TIMED => 100, 400);
my $apart = 2 / sqrt $n;
my $auc = auc($n, \&wrong, sub { 'ada@acme.test' }, sub { 'nob@acme.test' });

cmp_ok($auc, '>', 0.5 - $apart, "time does not tell who exists: $auc");
cmp_ok($auc, '<', 0.5 + $apart, 'either way');
note("AUC $auc of $n each");


# --- forgotten passwords --------------------------------------------------------------

$auc = auc($n, \&forgot, sub { 'ada@acme.test' }, sub { 'nob@acme.test' });

cmp_ok($auc, '>', 0.5 - $apart, "time does not tell who has forgotten one: $auc");
cmp_ok($auc, '<', 0.5 + $apart, 'either way');
note("AUC $auc of $n each");
$mail->stop;
$s->sql('DELETE FROM svc.password_reset');


# --- the ways in of an address --------------------------------------------------------

# of a tenant with all that there is to find: a domain whose people must come by a
# connection, and another connection of it

my $globex = $s->tenant('globex');

with_password($s, $globex, userName => 'ada@globex.test');
verified($s, $globex, 'globex.test', 1);
force($s, $globex, 'globex.test', saml($s, $globex));
oidc($s, $globex, 'oidc-x', 'globex.test');


sub discover { return ($s->http(POST => '/v1/auth/discover', [], { email => $_[0] })->status, 200) }


# other processes may tell more than the addresses do, but not each time

my $tries = 0;

do {
    $auc = auc(1000, \&discover, sub { 'ada@globex.test' },
               sub { ($_[0] % 3 ? 'nob' : 'a+x') . '@globex.test' });
} while ++$tries < 3 && ($auc < 0.45 || $auc > 0.55);

cmp_ok($auc, '>', 0.45, "time does not tell who may come in: $auc");
cmp_ok($auc, '<', 0.55, 'either way');
note("AUC $auc of 1000 each");


# --- hashes from elsewhere ------------------------------------------------------------

# Users whose hashes take another time, with the floor that the import
# recommends; each signs in once.  So few attempts show a smaller difference
# only by chance.

$n = repeated(SVC_TEST_TIMED => 30, 60);
$apart = 1.55 / sqrt $n;

my $bcrypt = crypt 'the lighthouse', '$2b$10$abcdefghijklmnopqrstuu';
my $file = $s->dir . '/users.jsonl';

like($bcrypt, qr/\A\$2b\$10\$/, 'of bcrypt') or die;
$s->secret($bcrypt);
$acme->create(userName => "bcrypt$_\@acme.test") for 1 .. $n;
write_file($file, join '', map {
    qq({"email":"bcrypt$_\@acme.test","passwordHash":"$bcrypt"}\n) } 1 .. $n);

my $imported = $s->svcctl(qw(users import --tenant acme --passwords --file), $file);
my ($floor) = $imported =~ /floor=(\d+)ms;$/m;

like($imported, qr/\Aimported $n passwords;/, 'imported');
ok($floor, 'with the time that a refusal is to take') or die;

# the shortest time of a few hashes, in ms

my ($best) = sort { $a <=> $b } map {
    my $since = time();

    crypt('wrong', $bcrypt) eq $bcrypt and die;
    1000 * (time() - $since);
} 1 .. 5;

# if that is close to the floor, the machine is busy and hashes take longer: the
# floor is raised

$floor = int 4 * $best if $best > 0.8 * $floor;
$s->nginx->{svc}{svc_password_hash} = "floor=${floor}ms queue=64 timeout=1s";
$s->reload;
wait_for { login('ada@acme.test')->status == 200 };
$auc = auc($n, \&wrong, sub { "bcrypt$_[0]\@acme.test" }, sub { "nobody$_[0]\@acme.test" });

cmp_ok($auc, '>', 0.5 - $apart, "time does not tell who was imported: $auc");
cmp_ok($auc, '<', 0.5 + $apart, 'either way');
note("AUC $auc of $n each, $floor ms");


$s->done;
done_testing();
