#!/usr/bin/perl

# Shows PATCH of the tenant and its branding: what may be in it, and entity tags; and
# what the console is told of a server that has little switched on.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;

my @port = map { SvcTest::Nginx::free_port() } 1, 2;
my $s = SvcTest->new(svc => { svc_set => [ 'SESSION_IDLE 900', 'SESSION_ABSOLUTE 7200',
                                           'MFA_STEP_UP_WINDOW 60', 'LOGIN_LOCKOUT_WINDOW 0' ] },
                     http => <<"EOT")->start;
    client_max_body_size 1048000;
    gzip on;
    gzip_types application/json;
    gzip_min_length 0;
    server {
        listen 127.0.0.1:$port[0];
        svc_base_url https://One.test:443;
        location /oauth { svc_oauth on; }
    }
    server {
        listen 127.0.0.1:$port[1];
        svc_base_url https://two.test;
        location /oauth { svc_oauth on; }
        location /v1 { svc_admin on; }
    }
EOT
my $acme = $s->tenant('acme');
my $globex = $s->tenant('globex');
my @workers = $s->workers;

my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my %switches = (allowSelfSignup => $false, allowPasswordless => $false);


sub tenant {
    return $acme->admin(GET => '/tenant')->json->{tenant};
}


sub patch {
    my ($body, @headers) = @_;

    return $acme->admin(PATCH => '/tenant', $body, \@headers);
}


# --- merge ----------------------------------------------------------------------

my $before = tenant();
my $r = patch({});
is($r->status, 200, 'nothing to do');
is_deeply($r->json->{tenant}, $before, 'changes nothing');
is_deeply([ $acme->events('id') ], [], 'and has no event');

$r = patch({ name => "  Acme SAS \x{2014} \x{1F680} ", extra => 1,
             branding => { primary => '#0A66c2', radius => '8px',
                           internalNote => { a => 1, b => [ 1, undef ] },
                           logoUrl => 'https://evil.test/x' } });
is($r->status, 200, 'a change') or diag($r->body);

my $tenant = $r->json->{tenant};
is($tenant->{name}, "Acme SAS \x{2014} \x{1F680}", 'the name is trimmed');
is_deeply($tenant->{branding},
          { %switches, primary => '#0A66c2', radius => '8px',
            internalNote => { a => 1, b => [ 1, undef ] } },
          'the branding, without a logo that nobody has sent');
isnt($tenant->{updatedAt}, $before->{updatedAt}, 'updatedAt moves');
is($tenant->{createdAt}, $before->{createdAt}, 'createdAt does not');
is_deeply(tenant(), $tenant, 'and so it is stored');
is_deeply([ $acme->events(qw(action details)) ],
          [ [ 'tenant.updated', { changed => [
                  'name', 'branding.internalNote', 'branding.primary',
                  'branding.radius' ] } ] ], 'with its event');

$r = patch({ branding => { radius => undef, allowSelfSignup => $true,
                           internalNote => { a => undef, c => 'x' },
                           muted => undef } });
is_deeply($r->json->{tenant}{branding},
          { %switches, allowSelfSignup => $true, primary => '#0A66c2',
            internalNote => { b => [ 1, undef ], c => 'x' } },
          'null removes, what is absent stays, objects are merged');
is_deeply(($acme->events('details'))[1][0]{changed},
          [ 'branding.allowSelfSignup', 'branding.internalNote',
            'branding.radius' ], 'what changed, and what went');

my $again = patch({ name => $tenant->{name}, branding => tenant()->{branding} });
is($again->json->{tenant}{updatedAt}, $r->json->{tenant}{updatedAt},
   'what was read can be sent back, and changes nothing');
is(scalar @{ [ $acme->events('id') ] }, 2, 'no event of it');

$r = patch({ branding => { allowSelfSignup => undef, '' => 1, '__proto__' => 2,
                           success => '#0f0', n => 12345678901234567890 } });
is_deeply($r->json->{tenant}{branding}{allowSelfSignup}, $false,
          'a switch that is removed is off');
like($r->body, qr/"n": ?12345678901234567890\b/, 'numbers stay as they are');
is($globex->admin(GET => '/tenant')->json->{tenant}{name}, 'Globex',
   'another tenant has nothing of it');


# --- what is refused ----------------------------------------------------------------

my $stored = $s->sql("SELECT md5(t::text) FROM svc.tenant t"
                     . " WHERE id = '$acme->{id}'");

sub refused {
    my ($body, $member, $name) = @_;

    my $e = admin_error(patch($body), 400, 'invalid_request',
                        $name // SvcTest::encode($body));
    like($e->{message}, qr/"\Q$member\E"/, 'it is named');
}

refused({ name => $_ }, 'name') for undef, '', '   ', 5, 'x' x 121, "a\nb",
                                    "a\x7f", "a\x{85}b", [ 'x' ], $true;
refused({ branding => $_ }, 'branding') for undef, [], 'x', 5;

refused({ branding => { primary => $_ } }, 'branding.primary')
    for 'red', '#12', '#12345', '#1234', '#1234567', '#ggg', '0a66c2', '',
        '#0a66c2;', ' #fff', 5, '#fff"', $true;

for my $key (qw(primaryHover primaryFg bg surface fg muted border danger)) {
    refused({ branding => { $key => $_ } }, "branding.$key")
        for 'red;}', 'url(x)', 'rgb(1,2,3', 'rgb(1,(2),3)', 'expression(1)',
            'rgb(1,2,3);x:rgb(1)', "a\nb", 'x' x 65, '', '#12', "rgb(1\\,2)",
            'var(--x)', '<b>', 'a b', 5, 'rgb(1,2,3/*x*/)', "'x'", 'expression', 'url', 'banana', 'rgb()',
            'rgb(a,b,c)', 'inherit';
}

refused({ branding => { radius => $_ } }, 'branding.radius')
    for -1, 65, '-0.5', '8 px', '1234px', 'px', '8pt', '8.px', '.5px', '8;', $true,
        '8px;', '8e3';
refused({ branding => { $_ => 'true' } }, "branding.$_")
    for qw(allowSelfSignup allowPasswordless);
refused({ branding => { $_ => 1 } }, "branding.$_")
    for qw(allowSelfSignup allowPasswordless);
refused({ branding => { note => 'x' x 16385 } }, 'branding', '16 KiB');
refused({ branding => { note => [ ('x' x 100) x 164 ] } }, 'branding',
        '16 KiB in pieces');
refused({ branding => { map { ("o$_" => { map { ("k$_" => 1) } 1 .. 900 }) }
                        1 .. 60 } }, 'branding', 'a thousand times as much');

for my $number ('1e-16000', '-1e-400', '1e-330', '0e-9999', '0e99999', '1e309') {
    admin_error(patch("{\"branding\":{\"radius\":$number}}"), 400,
                'invalid_request', "a number of many digits: $number");
}

is($s->sql("SELECT md5(t::text) FROM svc.tenant t WHERE id = '$acme->{id}'"),
   $stored, 'nothing of that is stored');

my $nulls = SvcTest::encode({ branding => {
    map { ("o$_" => { map { ("k$_" => undef) } 1 .. 1000 }) } 1 .. 80 } });
is(patch($nulls)->status, 200, 'as many nulls are nothing');
is(patch({ branding => { map { ("o$_" => undef) } 1 .. 80 } })->status, 200,
   'and go');

for my $row ([ primary => '#fff' ], [ primary => '#ABCDEF12' ],
             [ bg => 'white' ], [ fg => 'rgba(1, 2, 3, .5)' ],
              [ muted => 'hsl(120deg 75% 25% / 60%)' ], [ border => '#1234' ],
             [ danger => 'transparent' ], [ radius => 0 ], [ radius => 64 ],
             [ radius => 7.5 ], [ radius => '0.5rem' ], [ radius => '100%' ],
             [ radius => '12' ], [ radius => '999.25em' ])
{
    my ($key, $value) = @$row;
    my $r = patch({ branding => { $key => $value } });

    is($r->json->{tenant}{branding}{$key}, $value, "$key: $value");
}

is(patch({ name => 'x' x 120 })->status, 200, '120 characters');
is(patch({ name => "\x{1F680}" x 120 })->status, 200, 'of four bytes each');


# --- entity tags ------------------------------------------------------------------------

$r = $acme->admin(GET => '/tenant');
my $etag = $r->header('etag');
like($etag, qr/\A"[^"]+"\z/, 'a strong entity tag');
is($acme->admin(GET => '/tenant', undef, [ 'If-None-Match' => $etag ])->status,
   304, 'If-None-Match');
is($acme->admin(GET => '/tenant', undef, [ 'If-Match' => '"x"' ])->status, 200,
   'If-Match is for changes');

$r = patch({ name => 'First' }, 'If-Match' => $etag);
is($r->status, 200, 'If-Match of the present one');
isnt($r->header('etag'), $etag, 'there is a new one');

for my $stale ($etag, '"x"', "W/$etag", 'W/"x"', 'W/', 'w/' . $r->header('etag'), '', '"', 'x',
               '"1", "2"', '"{}"')
{
    admin_error(patch({ name => 'Second' }, 'If-Match' => $stale), 412,
                'precondition_failed', "If-Match: $stale");
}

is(tenant()->{name}, 'First', 'and nothing was changed');

$etag = $r->header('etag');
is(patch({ name => 'Third' }, 'If-Match' => "\"1\", $etag")->status, 200,
   'one of several');
is(patch({ name => 'Fourth' }, 'If-Match' => '*')->status, 200, 'any');

# gzip would make a weak tag of a strong one, and a proxy may: that one is taken, too.

my @gzip = ('Accept-Encoding' => 'gzip');

is($acme->admin(GET => '/users', undef, \@gzip)->header('content-encoding'), 'gzip',
   'what has no tag is compressed');
$r = $acme->admin(GET => '/tenant', undef, \@gzip);
is($r->header('content-encoding'), undef, 'what has one is not');
like($etag = $r->header('etag'), qr/\A"\d+"\z/, 'and its tag is strong');
is($acme->admin(GET => '/tenant', undef, [ @gzip, 'If-None-Match' => "W/$etag" ])->status, 304,
   'If-None-Match takes a weak one');
is(patch({ name => 'Fifth' }, 'If-Match' => "W/$etag")->status, 200, 'and If-Match');
admin_error(patch({ name => 'Sixth' }, 'If-Match' => $etag), 412, 'precondition_failed',
            'once');
is($s->sql("SELECT count(DISTINCT updated_at) FROM svc.tenant"
           . " WHERE id = '$acme->{id}'"), 1, 'there is one');


# --- what is on -------------------------------------------------------------------------

$r = $acme->admin(GET => '/console');
is($r->status, 200, 'what is on') or diag($r->body);

my $on = $r->json;

is_deeply([ @$on{qw(baseUrl issuerPrefix)} ], [ $s->base_url, 'https://one.test/oauth/t/' ],
          'the issuer is that of the first location');
is_deeply([ @{ $s->http(GET => '/v1/admin/console', [
                  Authorization => "Bearer $acme->{api_token}" ], undef, port => $port[1])
              ->json }{qw(baseUrl issuerPrefix)} ],
          [ 'https://two.test', 'https://two.test/oauth/t/' ], 'or of the one at this URL');
is(join(' ', sort grep { $on->{features}{$_} } keys %{ $on->{features} }), 'oauth scim',
   'there is no sign-in, and what depends on it');
is_deeply([ @$on{qw(session lockout)} ],
          [ { idleSeconds => 900, absoluteSeconds => 7200, stepUpSeconds => 60 }, undef ],
          'by svc_set');
is_deeply($on->{limits}, { pageSize => 500, bodyBytes => 1048000, imageBytes => 524288 },
          'and by client_max_body_size');
admin_error($s->http(GET => '/v1/admin/console'), 401, 'unauthorized', 'not without a token');

is("@{[ $s->workers ]}", "@workers", 'the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;
done_testing();
