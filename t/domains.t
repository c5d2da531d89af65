#!/usr/bin/perl

# Shows /v1/admin/domains: hosts at which a tenant's users sign in are added, verified
# by a TXT record, and removed.

use strict;
use warnings;
use utf8;

use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Dns;

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $VALUE = qr/\Asvc-verify=[A-Za-z0-9_-]{43}\z/;

my $s = SvcTest->new;
my $dns = SvcTest::Dns->new($s);

$s->start;

my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');


sub ask {
    my ($method, $path, $body, %opt) = @_;

    return ($opt{tenant} // $acme)->admin($method, "/domains$path", $body,
                                          $opt{headers}, $opt{token});
}

sub add {
    my ($domain, %opt) = @_;

    return ask(POST => '', { domain => $domain }, %opt);
}

sub shown {
    return substr $_[0] =~ s/[^ -~]/?/gr, 0, 30;
}

sub domains {
    return map { $_->{domain} } @{ ask(GET => '', undef, @_)->json->{domains} };
}


# --- permissions ------------------------------------------------------------------

my $viewer = $acme->token(kind => 'api', permissions => 'users:view');

for ([ GET => '' ], [ POST => '', { domain => 'a.example' } ],
     [ POST => '/a.example/verify' ], [ DELETE => '/a.example' ])
{
    admin_error(ask(@$_[0, 1, 2], token => $viewer->{token}), 403, undef,
                "$_->[0] $_->[1] without the permission");
    admin_error(ask(@$_[0, 1, 2], token => 'svc_x'), 401, undef,
                "$_->[0] $_->[1] with a token that is none");
}


# --- add, list, delete -------------------------------------------------------------

my $r = add('login.acme.example');

is($r->status, 201, 'added');

my $domain = $r->json;
my $value = $domain->{verification}{value};

like($value, $VALUE, 'the value to publish');
like($domain->{createdAt}, $TIME, 'when');
is_deeply($domain,
          { domain => 'login.acme.example', status => 'pending',
            verified => JSON::PP::false, createdAt => $domain->{createdAt},
            verification => { type => 'TXT', value => $value,
                              name => '_svc-challenge.login.acme.example' },
            verifiedAt => undef, signIn => undef,
            includeSubdomains => JSON::PP::false() }, 'what was added');
like($r->body, qr/\A\{"domain":.*"status":.*"verified":.*"verification":\{"type":
                  .*"name":.*"value":.*\},"createdAt":.*"verifiedAt":/x,
     'in order');
is_deeply(ask(GET => '')->json->{domains}, [ $domain ],
          'the list has it, and the value stays');

my %spelled = ('LOGIN.Beta.Example' => 'login.beta.example',
               'bücher.example' => 'xn--bcher-kva.example',
               'BÜCHER.gamma.example' => 'xn--bcher-kva.gamma.example',
               'faß.example' => 'xn--fa-hia.example',
               'xn--bcher-kva.delta.example' => 'xn--bcher-kva.delta.example',
               'login。epsilon。example' => 'login.epsilon.example',
               'dot.example.' => 'dot.example',
               'a-b.c--d.example' => 'a-b.c--d.example',
               '1.2.3.example' => '1.2.3.example',
               'a' . '.b' x 126 => 'a' . '.b' x 126,
               'l' x 63 . '.example' => 'l' x 63 . '.example');

for my $text (sort keys %spelled) {
    is(add($text)->json->{domain}, $spelled{$text}, shown($text));
    admin_error(add($spelled{$text}), 409, undef, 'once more');
}

is_deeply([ sort(domains()) ], [ sort 'login.acme.example', values %spelled ],
          'all');
is_deeply([ domains(tenant => $globex) ], [], 'of one tenant');
is((domains())[-1], 'login.acme.example', 'the newest first');

$r = $acme->admin(GET => '/domains?limit=2&offset=1');
is_deeply([ @{ $r->json }{qw(total limit offset)} ], [ 12, 2, 1 ], 'a page');
is_deeply([ map { $_->{domain} } @{ $r->json->{domains} } ], [ (domains())[1, 2] ],
          'has what it should');

admin_finds($acme, '/domains', needs => 'tenant:manage', of => 'domains', by => 'domain', finds => {
    'login.' => [ map { "login.$_.example" } qw(acme beta epsilon) ],
    'Bücher.Example' => [ 'xn--bcher-kva.example' ],
    'XN--B' => [ map { "xn--bcher-kva$_.example" } '', '.gamma', '.delta' ],
    '%' => [], _ => [], nobody => [] });
admin_one($acme, '/domains', $_, needs => 'tenant:manage', other => $globex,
          none => [ qw(x nobody.example) ])
    for qw(login.acme.example LOGIN.beta.example b%C3%BCcher.gamma.example);

for (qw(login.beta.example LOGIN.beta.example b%C3%BCcher.gamma.example)) {
    admin_error(ask(DELETE => "/$_", undef, tenant => $globex), 404, undef,
                "another tenant does not delete $_");
}

is(ask(DELETE => '/LOGIN.beta.example')->status, 204, 'deleted, in any case');
is(ask(DELETE => '/b%C3%BCcher.gamma.example')->status, 204, 'as it is spoken');
admin_error(ask(DELETE => '/login.beta.example'), 404, undef, 'it is gone');
admin_error(ask(DELETE => "/$_"), 404, undef, "no domain: $_")
    for qw(x 192.0.2.1 *.x.y %FF.example a%2Fb.example), 'a' x 2000;

isnt(add('login.beta.example')->json->{verification}{value}, undef, 'again');

my $headers = [ 'Idempotency-Key' => 'k' ];
my $key = add('key.example', headers => $headers);

is(add('key.example', headers => $headers)->body, $key->body,
   'an answer that is asked for again');

ask(DELETE => "/$_") for 'key.example', 'login.beta.example';
isnt(add('key.example')->json->{verification}{value},
     $key->json->{verification}{value}, 'a new value for one that was deleted');


# --- what is no host name ------------------------------------------------------------

for ('localhost', 'example', '', '.', '..', 'a..example', '.example', 'a.b..',
     '1.2.3.4', '1.2.3', '127.1', '１.２.３.４', '0x7f.1', 'a.0x7F', 'a.0x', 'a.1',
     '2001:db8::1', '[2001:db8::1]', '*.x.y', '*', 'ex ample.com', ' a.example',
     "a.example\n", "a\0.example", 'a_b.example', 'a.example:443', 'a.example/b',
     'https://a.example', 'ada@a.example', '-a.example', 'a-.example',
     'xn--.example', 'xn--a.example', 'xn--0000h.example', 'xn--bücher.example',
     "xn--\x{fc}.example", "\x{200d}.example", "a\x{ad}.\x{ad}", "\x{ffff}.example",
     'l' x 64 . '.example', 'a' . '.b' x 126 . 'c', ('a.' x 130) . 'b',
     'ü' x 200 . '.example', 'a' x 1025 . '.example')
{
    admin_error(add($_), 400, 'invalid_request', 'no name: ' . shown($_));
}

for (undef, 1, [], {}, JSON::PP::true) {
    admin_error(ask(POST => '', { domain => $_ }), 400, 'invalid_request',
                'no string');
}

admin_error(ask(POST => '', {}), 400, 'invalid_request', 'nothing');


# --- the service's own host ------------------------------------------------------------

my $node = $s->node(svc => { svc_base_url => 'https://Login.Service.example:8443/x',
                             svc_resolver => "127.0.0.1:$dns->{port}" });

for ([ 'login.service.example', 400 ], [ 'LOGIN.SERVICE.EXAMPLE.', 400 ],
     [ 'a.login.service.example', 201 ], [ 'login.service.example.org', 201 ],
     [ 'service.example', 201 ])
{
    my ($name, $status) = @$_;

    is($s->http(POST => '/v1/admin/domains',
                [ Authorization => "Bearer $acme->{api_token}" ],
                { domain => $name }, port => $node->{port})->status, $status,
       "at a service of its own name: $name");
}

is(ask(DELETE => "/$_")->status, 204, "$_ goes")
    for qw(a.login.service.example login.service.example.org service.example);


# --- the limit -------------------------------------------------------------------------

$s->sql("INSERT INTO svc.domain (tenant_id, domain) SELECT '$globex->{id}',"
        . " 'd' || n || '.example' FROM generate_series(1, 99) n");

is(add('last.example', tenant => $globex)->status, 201, 'the hundredth');
admin_error(add('more.example', tenant => $globex), 400, 'limit_exceeded',
            'one too many');
is(ask(DELETE => '/d1.example', undef, tenant => $globex)->status, 204, 'one less');
is(add('more.example', tenant => $globex)->status, 201, 'there is room');
is($s->sql("SELECT count(DISTINCT token) FROM svc.domain"), $s->sql(
   'SELECT count(*) FROM svc.domain'), 'each has a value of its own');
$s->sql("DELETE FROM svc.domain WHERE tenant_id = '$globex->{id}'");


# --- the audit log ------------------------------------------------------------------------

is_deeply([ $s->sql("SELECT action, target_type, target_id, details"
                    . " FROM svc.audit_event WHERE target_id = 'login.beta.example'"
                    . ' ORDER BY id LIMIT 2') ],
          [ [ 'domain.added', 'domain', 'login.beta.example', '{}' ],
            [ 'domain.removed', 'domain', 'login.beta.example',
              '{"verified": false}' ] ], 'audited');

# --- svc_resolver ----------------------------------------------------------------------

my $nginx = SvcTest->new(pg => 0, redis => 0)->nginx;
my %svc = %{ $nginx->{svc} // {} };

sub check {
    $nginx->{svc} = { %svc, svc_resolver => $_[0] };
    $nginx->write_configuration;

    return $nginx->test_configuration;
}

for my $text ('192.0.2.53', '192.0.2.53:5353', '::1', '[2001:db8::53]:53',
              '127.0.0.1 [::1]:53 192.0.2.1')
{
    my ($status, $said) = check($text);

    is($status, 0, "svc_resolver $text") or diag($said);
}

for ([ 'ns.example', qr/takes addresses such as .*, not "ns\.example"/ ],
     [ '127.0.0.1 localhost', qr/not "localhost"/ ],
     [ '127.0.0.1:0', qr/not "127\.0\.0\.1:0"/ ],
     [ '127.0.0.1:x', qr/not "127\.0\.0\.1:x"/ ],
     [ '127.0.0.1:65536', qr/not "127\.0\.0\.1:65536"/ ],
     [ '[::1', qr/not "\[::1"/ ], [ '127.0.0.1,::1', qr/not "127\.0\.0\.1,::1"/ ],
     [ '""', qr/not ""/ ], [ 'unix:/x', qr/not "unix:\/x"/ ],
     [ '::1 ::2 ::3 ::4', qr/takes 3 addresses at most/ ],
     [ [ '::1', '::1' ], qr/directive is duplicate/ ])
{
    my ($text, $pattern) = @$_;
    my ($status, $said) = check($text);

    isnt($status, 0, 'svc_resolver ' . (ref $text ? 'twice' : $text));
    like($said, qr/\[emerg\].*"svc_resolver" .*$pattern in /, 'which nginx -t tells');
}

$s->done;

done_testing();
