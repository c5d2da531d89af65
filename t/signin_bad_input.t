#!/usr/bin/perl

# Bad input to a sign-in, and its answers.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use SvcTest;
use SvcTest::Admin;
use SvcTest::Browser qw($PASSWORD with_password);


# three nodes with few connections each

my @SMALL = (svc_sign_in => 'on',
             svc_postgres_pool => [ 'read connections=1 depth=16',
                                    'write connections=2 depth=2',
                                    'slow connections=1 depth=1' ]);
my $s = SvcTest->new(workers => 1, svc => { @SMALL, svc_set =>
                                           [ 'RATE_LIMIT_LOGIN_IP_MAX 0',
                                             'RATE_LIMIT_LOGIN_EMAIL_MAX 0' ] })->start;
my $acme = $s->tenant('acme');
my @workers;

$s->secret($PASSWORD);

my $ada = with_password($s, $acme, userName => 'ada@acme.test');


sub login {
    my ($body, @headers) = @_;

    return $s->http(POST => '/v1/auth/login', [ @headers ], $body);
}


# Returns the number of everything that a sign-in or a failure stores.

sub stored {
    return $s->sql('SELECT (SELECT count(*) FROM svc.session) || \' \''
                   . ' || (SELECT count(*) FROM svc.sign_in) || \' \''
                   . ' || (SELECT count(*) FROM svc.login_phantom) || \' \''
                   . ' || (SELECT sum(failed_logins) FROM svc.user_account)'
                   . ' || \' \' || (SELECT count(*) FROM svc.audit_event)');
}


# Tests an error that stores nothing, names a member and must not be cached.

sub refused {
    my ($r, $status, $code, $name, $member) = @_;

    my $error = admin_error($r, $status, $code, $name);

    like($error->{message}, qr/"\Q$member\E"/, "$name: it is named")
        if $member;
    is($r->header('Set-Cookie'), undef, "$name: no cookie");

    return $error;
}


sub without {
    my ($name, %more) = @_;

    my %body = (email => 'ada@acme.test', password => $PASSWORD,
                tenant => 'acme', %more);

    delete $body{$name} if $name;

    return { %body };
}


is(login(without('tenant'))->status, 200, 'the only tenant need not be named');

my $globex = $s->tenant('globex');

@workers = $s->workers;

my $before = stored();


# --- members ------------------------------------------------------------------------

for my $member (qw(email password)) {
    refused(login(without($member)), 400, undef, "no $member", $member);

    for my $value ('null', '""', '[]', '["x"]', '{}', '5', 'true', '1e308') {
        my $text = SvcTest::encode(without(undef, $member => 'VALUE'));

        $text =~ s/"VALUE"/$value/;
        refused(login($text), 400, undef, "$member: $value", $member);
    }
}

my $long = 'a' x 60;

for my $email ("$long\@" . join('.', ('b' x 60) x 3) . '.testtesttes',
               'a@b@acme.test', 'a b@acme.test', ' ada@acme.test',
               "ada\@acme.test ", "ada\r\n\@acme.test", "ada\@acme.test\r\nBcc: x",
               "ada\@acme.test\t", 'ada', '@acme.test', 'ada@')
{
    refused(login(without(undef, email => $email)), 400, undef,
            'an address: ' . substr($email =~ s/[\r\n]/ /gr, 0, 30), 'email');
}

sub with_bytes {
    my ($member, $bytes) = @_;

    my $text = SvcTest::encode(without(undef, $member => 'VALUE'));

    return $text =~ s/VALUE/$bytes/r;
}

for my $case ([ 'a NUL', 'a\u0000b' ], [ 'invalid UTF-8', "a\xffb" ],
              [ 'overlong UTF-8', "a\xc0\xafb" ], [ 'a lone surrogate', '\ud800' ],
              [ 'a control character', 'a\u0007b' ])
{
    my ($name, $bytes) = @$case;

    refused(login(with_bytes($_, $bytes)), 400, undef, "$_: $name")
        for qw(email password);
}

refused(login(without(undef, password => 'x' x 1025)), 400, undef,
        'a password of 1,025 bytes', 'password');
refused(login(with_bytes('password', "\xc3\xa9" x 513)), 400, undef,
        'one of 513 characters of two bytes', 'password');

for my $case ([ 'email', '"email":"a@b.test","email":"ada@acme.test",'
                         . '"password":"x"' ],
              [ 'password', '"email":"ada@acme.test","password":"x",'
                            . '"password":"y"' ],
              [ 'by escape', '"email":"ada@acme.test","\u0065mail":"b@b.test",'
                             . '"password":"x"' ])
{
    refused(login("{$case->[1],\"tenant\":\"acme\"}"), 400, undef,
            "a duplicate key: $case->[0]");
}


# --- tenants ---------------------------------------------------------------------------

refused(login(without('tenant', email => $_)), 400, undef,
        "two tenants, none named: $_", 'tenant')
    for 'ada@acme.test', 'nobody@acme.test';

for my $slug ('a' x 64, 'a/b', '../acme', 'ACME', 'acme ', '-acme', 'acme-',
              "acme'--", '', 'acme\u0000', 'acm%65')
{
    refused(login(with_bytes('tenant', $slug)), 400, undef, "a slug: '$slug'");
}

refused(login(with_bytes('tenant', $_)), 401, 'invalid_credentials',
        "an unknown slug: $_") for 'nobody', 'a' x 63;
is(login(without(undef, tenant => 'nobody'))->body,
   login(without(undef, tenant => 'nobody', email => 'x@y.test'))->body,
   'the same for all');


# bytes that are not UTF-8 name no tenant, and cause no error in PostgreSQL

refused(login(without('tenant'), Host => $_), 400, undef, 'a Host of bytes', 'tenant')
    for "\xff", "a\xc3.test";

my $named = $s->node(workers => 1, svc => { @SMALL,
                                            svc_tenant => '$http_x_test_tenant' });

for my $name ("\xff", "a\xc3", 'nobody', "a'") {
    refused($s->http(POST => '/v1/auth/login', [ 'X-Test-Tenant' => $name ],
                     without('tenant'), port => $named->{port}),
            401, 'invalid_credentials', "a variable of svc_tenant: $name");
}


# --- bodies -------------------------------------------------------------------------------

for my $text ('', ' ', 'x', '[]', '"x"', '5', 'null', '{', '{}{}',
              '{"email":"ada@acme.test"', 'email=ada%40acme.test&password=x',
              "{\0}\0", '[' x 20000)
{
    my $status = length $text > 16384 ? 413 : 400;

    refused(login($text), $status, undef, 'a body: ' . substr $text, 0, 30);
}

my $text = SvcTest::encode(without());

sub padded { return $text . ' ' x ($_[0] - length $text) }

refused(login(padded(16_385)), 413, undef, '16,385 bytes');
refused(login(padded(2 * 1024 * 1024)), 413, undef, '2 MiB');

is(stored(), $before, 'nothing was stored, nothing counted');


# --- methods, origins ------------------------------------------------------------------------

my %allowed = ('/v1/auth/login' => 'POST', '/v1/auth/logout' => 'POST',
               '/v1/auth/session' => 'GET, HEAD', '/v1/auth/sessions' => 'GET, HEAD',
               '/v1/auth/sessions/revoke-others' => 'POST');

for my $path (sort keys %allowed) {
    for my $method (qw(GET HEAD POST PUT PATCH DELETE OPTIONS)) {
        next if $allowed{$path} =~ /\b$method\b/ || $method eq 'HEAD'
                || $path =~ /revoke/ && $method eq 'DELETE';

        my $r = $s->http($method, $path, [ Origin => $s->base_url ]);

        refused($r, 405, undef, "$method $path");
        is(join(',', grep { /^access-control/i } keys %{ $r->{headers} }), '',
           'no page of another origin is let in');
    }
}

for my $headers ([ Origin => 'https://evil.test' ], [ Origin => 'null' ],
                 [ 'Sec-Fetch-Site' => 'cross-site' ],
                 [ 'Sec-Fetch-Site' => 'same-site' ],
                 [ 'Sec-Fetch-Site' => 'cross-site', Origin => $s->base_url ],
                 [ 'Content-Type' => 'text/plain',
                   'Sec-Fetch-Site' => 'cross-site' ],
                 [ 'Content-Type' => 'text/plain',
                   Origin => 'https://evil.test' ],
                 [ Origin => 'http://127.0.0.1.evil.test' ],
                 [ Origin => $s->base_url . '.evil.test' ])
{
    my $r = login(without(), @$headers);

    refused($r, 403, 'csrf_failed', "from @$headers");
    is($r->header('Access-Control-Allow-Origin'), undef, 'no CORS');
    refused(login('{', @$headers), 403, 'csrf_failed',
            'that comes before the body');
}

is(stored(), $before, 'nothing was stored by them');
is(login(without(), 'Content-Type' => 'text/plain', Origin => $s->base_url)
       ->status, 200, 'a type does not matter');


# --- who cannot sign in: one answer ---------------------------------------------------------------

my %who = (wrong => 'ada@acme.test', unknown => 'nobody@acme.test');

for my $name (qw(suspended deactivated)) {
    $who{$name} = "$name\@acme.test";

    my $user = with_password($s, $acme, userName => $who{$name});

    $s->sql("UPDATE svc.user_account SET status = '$name'"
            . " WHERE id = '$user->{id}'");
}

$who{password_less} = 'plain@acme.test';
$acme->create(userName => $who{password_less});

my %answer;

for my $name (sort keys %who) {
    my $r = login(without(undef, email => $who{$name},
                          $name eq 'wrong' ? (password => 'wrong') : ()));
    my %h = %{ $r->{headers} };

    delete @h{qw(date x-request-id)};
    admin_error($r, 401, 'invalid_credentials', $name);
    $answer{ join "\n", $r->status, map({ "$_: $h{$_}" } sort keys %h),
                        $r->body }++;
}

is(scalar keys %answer, 1, 'byte by byte the same') or diag(explain(\%answer));
is_deeply([ sort map { $_->[0]{reason} } $acme->events_where(
                "action = 'user.login_failed'", 'details') ],
          [ qw(inactive inactive no_password unknown wrong) ],
          'the audit log knows better');


# nor by the time, when imported hashes take longer

my $even = $s->node(workers => 1, svc => { @SMALL,
                                           svc_password_hash => 'floor=800ms' });

for my $name ('nowhere', sort keys %who) {
    my $begin = time();
    my $r = $s->http(POST => '/v1/auth/login', [],
                     without(undef, email => $who{$name} // 'nobody@acme.test',
                             $name eq 'nowhere' ? (tenant => 'nobody') : (),
                             password => 'wrong'), port => $even->{port});

    admin_error($r, 401, 'invalid_credentials', "$name, in its time");
    cmp_ok(time() - $begin, '>=', 0.79, 'not sooner than the floor');
}

my $gone = $s->begin(POST => '/v1/auth/login', [], without(undef, password => 'x'),
                     port => $even->{port});
$gone->close;
is($s->http(POST => '/v1/auth/login', [], without(), port => $even->{port})->status,
   200, 'who leaves meanwhile does no harm');


# the longest password that is allowed

is(login(without(undef, password => 'x' x 1024))->status, 401,
   'a password of 1,024 bytes');
is(login(padded(16_384))->status, 200, 'a body of 16 KiB');

ok($s->unharmed(\@workers, 'all of it'), 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
