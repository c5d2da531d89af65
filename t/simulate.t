#!/usr/bin/perl

# Imported sign-ins, and a policy simulated on them.

use strict;
use warnings;

use JSON::PP ();
use POSIX ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Session qw(add_addresses);

my $s = SvcTest->new->start;
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my %user = map { $_ => $acme->create(userName => "$_\@acme.test")->{id} }
           qw(ada bob eve);
my $now = time;


# Runs svcctl.  Returns both its streams, and its exit status.

sub svcctl {
    my ($out, $rc, $err) = $s->svcctl(@_);

    return ($out . $err, $rc);
}


# Writes these lines to a file, and imports it for a tenant.

sub import_lines {
    my ($lines, $tenant) = @_;
    my $file = "$s->{dir}/sign-ins.csv";

    open my $fh, '>', $file or die "$file: $!";
    print $fh map { "$_\n" } @$lines;
    close $fh;

    return svcctl('sign-ins', 'import', '--tenant', $tenant // 'acme',
                  '--file', $file);
}


sub ago {
    my ($seconds) = @_;

    return POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $now - $seconds);
}


sub simulate {
    my ($policy) = @_;

    return $acme->admin(POST => '/access-policy/simulate', $policy);
}


sub decision {
    my ($action, $rule) = @_;

    return { action => $action, rule => $rule };
}


# --- no sign-ins ------------------------------------------------------------------

my $open = { rules => [], defaultAction => 'allow' };
my $r = simulate($open);
is($r->status, 200, 'no sign-ins') or diag($r->body);

my $answer = $r->json;
my ($from, $to) = @{ delete $answer->{sample} }{qw(from to)};
is_deeply($answer,
          { summary => { allow => 0, mfa => 0, deny => 0, changed => 0,
                         unchanged => 0 },
            results => [],
            lockout => { wouldLockOutCaller => $false, denyAll => $false } },
          'zeros, and no results');
like($from, qr/\A\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z\z/, 'from');
like($to, qr/\A\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z\z/, 'to');


# --- the file -----------------------------------------------------------------------

my @lines = ('at,ip,country,email',
    ago(3600) . ',198.51.100.9,ro,ada@acme.test',
    ago(7200) . ',198.51.100.9,FR,ADA@acme.test',
    ago(9000) . ',198.51.100.9,FR,bob@acme.test',
    ago(60) . ',2001:db8::1,,eve@acme.test',
    ago(90000) . ',203.0.113.7,DE,unknown@acme.test',
    ago(29 * 86400) . ',203.0.113.8,DE,',
    '"' . ago(31 * 86400) . '",203.0.113.9,DE,ada@acme.test',
);

my ($text, $rc) = import_lines(\@lines);
is($rc, 0, 'a file') or diag($text);
is($text, "imported 7 sign-ins from 5 addresses; 0 were there already; 1 e-mail"
          . " addresses are not in the directory\n", 'and what came of it');
($text) = import_lines(\@lines);
is($text, "imported 0 sign-ins from 0 addresses; 7 were there already; 1 e-mail"
          . " addresses are not in the directory\n", 'the same again');
is_deeply([ $s->sql("SELECT ip, count(*) FROM svc.sign_in WHERE tenant_id ="
                    . " '$acme->{id}' GROUP BY ip ORDER BY ip") ],
          [ [ '198.51.100.9', 3 ], [ '203.0.113.7', 1 ], [ '203.0.113.8', 1 ],
            [ '203.0.113.9', 1 ], [ '2001:db8::1', 1 ] ], 'is stored once');

sub refused {
    my ($lines, $match, $name) = @_;
    my $before = $s->sql('SELECT count(*) FROM svc.sign_in');
    my ($text, $rc) = import_lines($lines);

    isnt($rc, 0, "$name is refused");
    like($text, $match, 'with a reason');
    is($s->sql('SELECT count(*) FROM svc.sign_in'), $before, 'as a whole');
}

my @good = @lines[0, 1];
refused([ @good, 'yesterday,,' ], qr/line 3/, 'a line that is short');
refused([ @good, ago(1) . ',10.0.0.256,FR,' ], qr/10\.0\.0\.256.*line 3.*ip/s,
        'an address that is none');
refused([ @good, ago(1) . ',10.0.0.0/8,FR,' ], qr/network/, 'a network');
refused([ @good, 'noon,10.0.0.1,FR,' ], qr/no time such as .*line 3.*at.*noon/,
        'a time that is none');
refused([ @good, ',10.0.0.1,FR,' ], qr/no time/, 'no time');
refused([ @good, ago(1) . ',,FR,' ], qr/no address/, 'no address');
refused([ @good, ago(-90) . ',10.0.0.1,FR,' ],
        qr/future, at \d{4}-\d\d-\d\d .*\+00$/, 'the future');
refused([ @good, ago(1) . ',10.0.0.1,France,' ],
        qr/"France" is no country: two letters/,
        'a country that is none');
refused([ 'ip,at,country,email', '10.0.0.1,' . ago(1) . ',FR,' ], qr/at/,
        'another header');
refused([ @good, '\\.', 'DELETE FROM svc.sign_in;' ], qr/line 3/,
        'an end in the middle');

# psql reads 8191 bytes at a time

refused([ @good, "\0" . 'x' x $_ . '\\.', '\! touch ' . $s->dir . '/run' ],
        qr/line 3.*zero byte/, "a zero byte, and an end $_ bytes behind it")
    for 1, 8190 - length join "\n", @good, '';
ok(!-e $s->dir . '/run', 'nothing of the file is run');
refused([ join "\r", @good, '\\.', $good[1] ], qr/line 1.*carriage return/,
        'carriage returns alone');

my $at = ago(500);

sub other_form {
    my ($name, @bytes) = @_;

    ($text, $rc) = import_lines(\@bytes);
    is($text, 'imported 1 sign-ins from 1 addresses; 0 were there already; 0'
              . " e-mail addresses are not in the directory\n", $name);
    $s->sql("DELETE FROM svc.sign_in WHERE ip = '192.0.2.7'");
}

other_form('lines that end with CR LF', "$lines[0]\r", "$at,192.0.2.7,FR,\r");
other_form('a byte order mark', "\xef\xbb\xbf$lines[0]", "$at,192.0.2.7,FR,");
other_form('an address of IPv4 in IPv6', $lines[0], "$at,::ffff:192.0.2.7,FR,");

my $pipe = $s->dir . '/pipe';
POSIX::mkfifo($pipe, 0600) or die "$pipe: $!";
my $writer = fork // die "fork: $!";

if ($writer == 0) {
    open my $fh, '>', $pipe or POSIX::_exit(1);
    print $fh "$lines[0]\n$at,192.0.2.7,FR,\n";
    close $fh;
    POSIX::_exit(0);
}

($text, $rc) = svcctl(qw(sign-ins import --tenant acme --file), $pipe);
like($text, qr/\Aimported 1 /, 'a pipe');
waitpid $writer, 0;
$s->sql("DELETE FROM svc.sign_in WHERE ip = '192.0.2.7'");

($text, $rc) = import_lines(\@lines, 'nobody');
isnt($rc, 0, 'a tenant that is not there');
like($text, qr/no tenant "nobody"/, 'is named');
($text, $rc) = svcctl(qw(sign-ins import --tenant acme --file /nonexistent));
isnt($rc, 0, 'a file that is not there');
like($text, qr{/nonexistent}, 'is named');

# also in a file that does not look like text

for my $byte ("\xff", "\0") {
    refused([ @good, '\\.', "\\! touch $s->{dir}/shell", $byte ],
            qr/line 3.*begins with/, 'what would be taken for a command of psql');
    ok(!-e "$s->{dir}/shell", 'which is not run');
}

refused([ @good, "\0" ], qr/line 3.*zero byte/, 'what is no text');


# --- a policy tried -----------------------------------------------------------------------

my $policy = { rules => [
    { name => 'Block abroad', action => 'deny', countries => [ 'RO' ] },
    { name => 'Home', action => 'mfa', networks => [ '203.0.113.0/24' ] } ],
    defaultAction => 'allow' };

$r = simulate($policy);
is($r->status, 200, 'a policy') or diag($r->body);
$answer = $r->json;

is_deeply([ @{ $answer->{sample} }{qw(signIns distinctIps truncated)} ],
          [ 6, 4, $false ], 'the sample');
is_deeply($answer->{summary}, { allow => 1, mfa => 2, deny => 1, changed => 3,
                                unchanged => 1 }, 'the summary');
is_deeply([ map { my %row = %$_; delete $row{lastSignInAt}; \%row }
            @{ $answer->{results} } ],
    [ { ip => '198.51.100.9', country => 'RO', signIns => 3, users => 2,
        current => decision('allow'), changed => $true,
        candidate => decision('deny', 'Block abroad') },
      { ip => '203.0.113.7', country => 'DE', signIns => 1, users => 0,
        current => decision('allow'), changed => $true,
        candidate => decision('mfa', 'Home') },
      { ip => '203.0.113.8', country => 'DE', signIns => 1, users => 0,
        current => decision('allow'), changed => $true,
        candidate => decision('mfa', 'Home') },
      { ip => '2001:db8::1', country => undef, signIns => 1, users => 1,
        current => decision('allow'), changed => $false,
        candidate => decision('allow') } ],
    'each address, what changes first');
is($answer->{results}[0]{lastSignInAt}, ago(3600) =~ s/Z/.000Z/r,
   'as at its last sign-in');
is($acme->admin(GET => '/access-policy')->json->{versionId}, undef,
   'nothing was applied');
is_deeply(simulate({ $_ => $policy })->json->{results}, $answer->{results},
          "wrapped in $_") for 'policy', 'accessPolicy';

is($acme->admin(PUT => '/access-policy', $policy)->status, 200, 'it is applied');
$answer = simulate($open)->json;
is($answer->{summary}{changed}, 3, 'and compared with it the other way round');
is_deeply($answer->{results}[0]{current}, decision('deny', 'Block abroad'),
          'the policy in force');

$answer = simulate({ rules => [ { name => 'Here', action => 'deny',
                                  networks => [ '127.0.0.1' ] } ],
                     defaultAction => 'allow' })->json;
is_deeply($answer->{lockout}, { wouldLockOutCaller => $true, denyAll => $false },
          'a lockout is reported');
$answer = simulate({ rules => [], defaultAction => 'deny' })->json;
is_deeply($answer->{lockout}, { wouldLockOutCaller => $true, denyAll => $true },
          'of all too');

my $e = admin_error(simulate({ policy => { rules => [ { name => 'x' } ],
                                           defaultAction => 'allow' } }),
                    400, 'invalid_request', 'a policy that is none');
like($e->{message}, qr/"policy\.rules\[0\]\.action"/, 'names the member');
admin_error(simulate({ policy => [] }), 400, 'invalid_request', 'a list');

my $hour = (gmtime $now - 3600)[2];
$answer = simulate({ rules => [
    { name => 'Then', action => 'mfa', timeWindows => [
        { start => sprintf('%02d:00', $hour),
          end => sprintf('%02d:00', $hour + 1) } ] } ],
    defaultAction => 'allow' })->json;
is_deeply((grep { $_->{ip} eq '198.51.100.9' } @{ $answer->{results} })[0]{candidate},
          decision('mfa', 'Then'), 'at the time of the sign-in');


# --- more than a thousand addresses -----------------------------------------------------------

$s->sql('INSERT INTO svc.sign_in (tenant_id, at, ip, country, user_id)'
        . " SELECT '$globex->{id}', now() - i * interval '1 second',"
        . " '10.0.0.0'::inet + i % 1001, 'FR', NULL"
        . ' FROM generate_series(1, 5005) i');
$s->sql('INSERT INTO svc.sign_in (tenant_id, at, ip, outcome)'
        . " VALUES ('$globex->{id}', now(), '10.9.9.9', 'failure')");
add_addresses($s);

$answer = $globex->admin(POST => '/access-policy/simulate', $policy)->json;
is_deeply([ @{ $answer->{sample} }{qw(signIns distinctIps truncated)} ],
          [ 5000, 1000, $true ], 'the latest thousand of them');
is(scalar @{ $answer->{results} }, 1000, 'a row for each');
is($answer->{results}[0]{ip}, '10.0.0.1', 'the latest first');
ok(!(grep { $_->{ip} =~ /\A10\.9|\A10\.0\.0\.0\z/ } @{ $answer->{results} }),
   'no failure, and not the oldest one');


# --- what goes ------------------------------------------------------------------------------------

is($acme->admin(DELETE => "/users/$user{ada}", undef, undef,
                $acme->token_for('members:manage'))->status, 204,
   'a user is erased');
$answer = simulate($open)->json;
is_deeply({ map { ($_->{ip} => $_->{signIns}) } @{ $answer->{results} } },
          { '198.51.100.9' => 1, '203.0.113.7' => 1, '203.0.113.8' => 1,
            '2001:db8::1' => 1 }, 'and the sign-ins go along');

($text, $rc) = svcctl(qw(sign-ins retain --days 20));
is($text, "deleted 1\n", 'old sign-ins are deleted') or diag($text);
is_deeply([ $s->sql("SELECT host(ip) FROM svc.sign_in_address WHERE tenant_id ="
                    . " '$acme->{id}' ORDER BY ip") ],
          [ map { [$_] } qw(198.51.100.9 203.0.113.7 2001:db8::1) ],
          'and their addresses');
($text, $rc) = svcctl(qw(sign-ins retain --days x));
isnt($rc, 0, 'a number of days that is none');


# --- a policy that was valid once ----------------------------------------------------------------

$s->sql("UPDATE svc.governance SET access_policy = '{\"rules\":[{\"name\":\"x\","
        . "\"action\":\"deny\",\"timeWindows\":[{\"start\":\"01:00\",\"end\":"
        . "\"02:00\",\"timezone\":\"Gone/Away\"}]}],\"defaultAction\":\"deny\"}'"
        . " WHERE tenant_id = '$acme->{id}'");
$e = admin_error(simulate($open), 500, 'internal_error', 'whose time zone is gone');
like($e->{message}, qr/put another/, 'and what to do');
is($acme->admin(PUT => '/access-policy', $open)->status, 200, 'which works');


# --- an administrator who is locked out ------------------------------------------------------------

$s->sql("UPDATE svc.governance SET access_policy = '{\"rules\":[],"
        . "\"defaultAction\":\"deny\"}' WHERE tenant_id = '$acme->{id}'");
($text, $rc) = svcctl(qw(access-policy reset --tenant acme));
is($rc, 0, 'breaking the glass') or diag($text);
my $now_policy = $acme->admin(GET => '/access-policy')->json;
is($now_policy->{defaultAction}, 'allow', 'admits everybody');
my $version = $acme->admin(GET => '/access-policy/versions')->json->{versions}[0];
is_deeply([ @$version{qw(id version source createdBy)} ],
          [ $now_policy->{versionId}, 3, 'api',
            { type => 'system', id => undef, name => 'svcctl' } ],
          'as a new version');
is_deeply([ $s->sql("SELECT action, actor_type FROM svc.audit_event WHERE"
                    . " details ->> 'source' = 'svcctl' AND action LIKE 'access%'") ],
          [ [ 'access_policy.updated', 'system' ] ], 'with its event');
my $db = $s->connect_as('postgres');

$db->query('BEGIN');
$db->query("SELECT FROM svc.governance WHERE tenant_id = '$acme->{id}' FOR UPDATE");
($text, $rc) = svcctl(qw(access-policy reset --tenant acme));
isnt($rc, 0, 'a reset while another session holds the policies');
like($text, qr/another session holds .* nothing was done, try again/,
     'does not wait for ever, and says why');
$db->query('ROLLBACK');
($text, $rc) = svcctl(qw(access-policy reset --tenant nobody));
isnt($rc, 0, 'a tenant that is not there');

$s->done;
done_testing();
