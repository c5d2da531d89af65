#!/usr/bin/perl

# /v1/admin/saml-idp: the tenant as an identity provider for SAML applications.

use strict;
use warnings;
use utf8;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Process qw(run wait_for write_file);
use SvcTest::Skip;

needs(program => 'openssl');

my $TIME = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $UUID = qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/;
my $TRUE = JSON::PP::true();

my $s = SvcTest->new->start;
my ($acme, $globex, $initech, $hooli) = map { $s->tenant($_) }
                                        qw(acme globex initech hooli);
my $PERMISSIONS = "UPDATE svc.credential SET permissions = '{apps:manage}'"
                  . " WHERE kind = 'api'";
$s->sql($PERMISSIONS);

my %NEW = (name => ' Wiki ', spEntityId => 'https://wiki.test/saml',
           acsUrl => 'https://wiki.test/acs');


sub ask {
    my ($method, $path, $body, %opt) = @_;

    return ($opt{tenant} // $acme)->admin($method, "/saml-idp$path", $body,
                                          $opt{headers}, $opt{token});
}


# Returns what openssl says of a certificate.

sub openssl {
    my ($pem, @command) = @_;

    write_file($s->dir . '/idp.pem', $pem);

    my ($status, $text) = run([ 'openssl', @command, $s->dir . '/idp.pem' ]);

    return $status == 0 ? $text : "failed: $text";
}


# With a path of an application it is changed to this, which is refused as well; a member
# that is absent stays as it is.

sub refused {
    my ($member, $value, $path) = @_;
    my %body = (%NEW, $member => $value);
    my $name = "$member: " . (ref $value ? 'absent' : substr $value // 'null', 0, 40);

    delete $body{$member} if ref $value;

    for ([ POST => '/apps', \%body ], $path && !ref $value
                                      ? [ PATCH => $path, { $member => $value } ] : ())
    {
        like(admin_error(ask(@$_), 400, 'invalid_request', "$_->[0] $name")->{message} // '',
             qr/^"\Q$member\E"/, "$_->[0] $name: says so");
    }
}


# Returns the application, and the ETag with which it comes.

sub one {
    my ($id, %opt) = @_;
    my $r = ask(GET => "/apps/$id", undef, %opt);

    is($r->status, 200, 'read') or diag($r->body);

    return ($r->json, $r->header('etag'));
}


# --- permissions ------------------------------------------------------------------

my $weak = $acme->token_for('audit:view,groups:manage,members:manage,roles:manage,'
                            . 'tenant:manage,users:view');

admin_error(ask(@$_[0 .. 2], token => $weak), 403, undef,
            "$_->[0] without the permission")
    for [ GET => '' ], [ POST => '/apps', \%NEW ],
        [ GET => "/apps/$acme->{id}" ], [ PATCH => "/apps/$acme->{id}", {} ],
        [ DELETE => "/apps/$acme->{id}" ];
is($s->sql('SELECT count(*) FROM svc.saml_idp'), 0, 'which makes no key');


# --- the first of many ---------------------------------------------------------------

my @first = map {
    $s->begin(GET => '/v1/admin/saml-idp',
              { Authorization => "Bearer $acme->{api_token}" })
} 1 .. 20;
my @answers = map { $_->read } @first;

is_deeply([ map { $_ ? $_->status : 'none' } @answers ], [ (200) x 20 ],
          'twenty at once');

my %made = map { $_->json->{certificate} => 1 } @answers;

is(scalar(keys %made), 1, 'have one certificate');

my ($pem) = keys %made;
my $base = $s->base_url . '/v1/tenants/acme/saml-idp';
my %given = (entityId => "$base/metadata", metadataUrl => "$base/metadata",
             ssoUrl => "$base/sso", certificate => $pem);

is_deeply($_->json, { %given, apps => [] }, 'and nothing else yet') for $answers[0];
like(openssl($pem, 'verify', '-check_ss_sig', '-CAfile', $s->dir . '/idp.pem'),
     qr/: OK$/, 'it is signed with its own key');

my $text = openssl($pem, qw(x509 -noout -text -in));

like($text, qr/Public-Key: \(2048 bit\)/, 'of 2,048 bits');
like($text, qr/Signature Algorithm: sha256WithRSAEncryption/, 'by SHA-256');
like($text, qr/Subject: CN ?= ?acme$/m, 'of the tenant');
like($text, qr/Digital Signature/, 'to sign with');
like(openssl($pem, qw(x509 -noout -checkend), 3649 * 86400, '-in'), qr/will not expire/,
     'for ten years');
like(openssl($pem, qw(x509 -noout -checkend), 3651 * 86400, '-in'), qr/will expire/,
     'and no longer');


# --- the key ----------------------------------------------------------------------------

is($s->sql('SELECT count(*) FROM svc.saml_idp'), 1, 'one key');
is($s->sql("SELECT count(*) FROM svc.saml_idp WHERE octet_length(private_key) < 1200"
           . " OR substr(private_key, 1, 2) <> '\\x0131'"
           . " OR position('\\x0282010100'::bytea IN private_key) > 0"), 0,
   'which is sealed: no number of RSA is in it');

# The text of a certificate may have any letters in it, but no blank and no quotes.

unlike(join('', map { $_->body } @answers), qr/PRIVATE KEY|"\w*key\w*":/i, 'and in no answer');

my $other = ask(GET => '', undef, tenant => $globex)->json;

isnt($other->{certificate}, $pem, 'another tenant has its own');
is($other->{ssoUrl}, $s->base_url . '/v1/tenants/globex/saml-idp/sso', 'and its URLs');


# --- add, list ----------------------------------------------------------------------

my @key = ('Idempotency-Key' => 'k');
my $r = ask(POST => '/apps', \%NEW, tenant => $initech, headers => \@key);

is($r->status, 201, 'added, while there was no key') or diag($r->body);

my $app = $r->json;

like($app->{id}, $UUID, 'an id');
like($app->{createdAt}, $TIME, 'when');
is_deeply($app, { %NEW, name => 'Wiki', nameIdFormat => 'emailAddress',
                  enabled => $TRUE, id => $app->{id}, createdAt => $app->{createdAt} },
          'what was made');
is($s->sql("SELECT count(*) FROM svc.saml_idp WHERE tenant_id = '$initech->{id}'"), 1,
   'now there is one');

$r = ask(POST => '/apps', \%NEW, tenant => $initech, headers => \@key);
is($r->status, 201, 'sent again');
is($r->header('idempotency-replayed'), 'true', 'it is the first answer');
is_deeply($r->json, $app, 'the same');

is_deeply(ask(GET => '', undef, tenant => $initech)->json->{apps}, [ $app ],
          'it is in the list');
admin_error(ask(POST => '/apps', { %NEW, name => 'x' }, tenant => $initech), 409, undef,
            'the same spEntityId');
is(ask(POST => '/apps', \%NEW)->status, 201, 'another tenant\'s');
is(ask(POST => '/apps', { %NEW, spEntityId => 'https://two.test' })->status, 201,
   'another application');
is_deeply([ map { $_->{spEntityId} } @{ ask(GET => '')->json->{apps} } ],
          [ 'https://two.test', $NEW{spEntityId} ], 'the newest is the first');

# --- change -------------------------------------------------------------------------

{
    my %at = (tenant => $initech);
    my $path = "/apps/$app->{id}";
    my $events = sub {
        return [ $s->sql("SELECT details->>'updated', details->>'members', target_name"
                         . " FROM svc.audit_event WHERE tenant_id = '$initech->{id}'"
                         . " AND details ? 'updated' ORDER BY id") ];
    };
    my ($was, $tag) = one($app->{id}, %at);

    is_deeply($was, $app, 'one of them, as it is in the list');
    like($tag, qr/\A"\d+"\z/, 'with an ETag');

    my $r = ask(PATCH => $path, { name => ' Wiki ', acsUrl => $NEW{acsUrl} }, %at);

    is_deeply([ $r->status, $r->json, $r->header('etag') ], [ 200, $app, $tag ],
              'what is the same changes nothing');
    is_deeply(ask(PATCH => $path, {}, %at)->json, $app, 'nor does nothing');
    is_deeply($events->(), [], 'and nothing is told');

    $r = ask(PATCH => $path, { acsUrl => 'HTTPS://wiki.test/2' }, %at,
             headers => [ 'If-Match' => $tag ]);
    is($r->status, 200, 'one member alone') or diag($r->body);
    is_deeply($r->json, { %$app, acsUrl => 'HTTPS://wiki.test/2' }, 'the others stay');
    isnt($r->header('etag'), $tag, 'with another ETag');
    is_deeply([ one($app->{id}, %at) ], [ $r->json, $r->header('etag') ], 'which it has');

    admin_error(ask(PATCH => $path, { name => 'Late' }, %at, headers => [ 'If-Match' => $tag ]),
                412, undef, 'an older one is refused');
    is(ask(PATCH => $path, { name => 'Wiki' }, %at, headers => [ 'If-Match' => '*' ])->status,
       200, 'any does for "*"');

    is(ask(POST => '/apps', { %NEW, spEntityId => 'https://two.test' }, %at)->status, 201,
       'another one');
    admin_error(ask(PATCH => $path, { spEntityId => 'https://two.test', name => 'x' }, %at), 409,
                undef, 'whose spEntityId is taken');
    is(ask(PATCH => $path, { spEntityId => 'https://three.test', name => 'Three',
                             acsUrl => $NEW{acsUrl} }, %at)->status, 200, 'a free one is not');
    is_deeply($events->(), [ [ $NEW{spEntityId}, '["acsUrl"]', 'Wiki' ],
                             [ 'https://three.test', '["name", "spEntityId", "acsUrl"]', 'Three' ] ],
              'the audit log has what has changed');
    is(ask(PATCH => $path, { name => 'Wiki', spEntityId => $NEW{spEntityId}, enabled => 0,
                             id => $acme->{id} }, %at)->status, 200, 'and back');
    is_deeply((one($app->{id}, %at))[0], $app, 'what cannot be set stays');

    admin_error(ask($_, "/apps/$app->{id}", $_ eq 'PATCH' ? { name => 'x' } : undef), 404, undef,
                "$_ of another tenant's") for qw(GET PATCH);
    admin_error(ask(PATCH => "/apps/$_", { name => 'x' }), 404, undef, "none: $_")
        for $acme->{id}, 'x', '%FF';

    # two that want the same "spEntityId"

    my ($x, $y) = map { ask(POST => '/apps', { %NEW, spEntityId => "https://$_.test" }, %at)
                        ->json->{id} } qw(x y);
    my @both = map {
        $s->begin(PATCH => "/v1/admin/saml-idp/apps/$_",
                  { Authorization => "Bearer $initech->{api_token}" },
                  '{"spEntityId":"https://one.test"}')
    } $x, $y;

    is_deeply([ sort map { $_->read->status } @both ], [ 200, 409 ],
              'of two that want one the other one is refused');
    $s->sql("DELETE FROM svc.saml_app WHERE tenant_id = '$initech->{id}' AND id <> '$app->{id}'");
}


# --- remove -----------------------------------------------------------------------

admin_error(ask(DELETE => "/apps/$_"), 404, undef, "none: $_")
    for $app->{id}, $acme->{id}, 'x', '%FF';
is(ask(DELETE => "/apps/$app->{id}", undef, tenant => $initech)->status, 204,
   'removed');
admin_error(ask(DELETE => "/apps/$app->{id}", undef, tenant => $initech), 404, undef,
            'once');
is_deeply(ask(GET => '', undef, tenant => $initech)->json->{apps}, [], 'it is gone');
is(scalar(@{ ask(GET => '')->json->{apps} }), 2, 'and not another tenant\'s');
is_deeply([ $s->sql("SELECT details->>'added', details->>'removed', target_name"
                    . ' FROM svc.audit_event WHERE'
                    . " tenant_id = '$initech->{id}' AND action = 'saml.updated'"
                    . " AND target_id = '$app->{id}' AND NOT details ? 'updated'"
                    . ' ORDER BY id') ],
          [ [ $NEW{spEntityId}, undef, 'Wiki' ], [ undef, $NEW{spEntityId}, 'Wiki' ] ],
          'each change is in the audit log');


# --- what is refused ------------------------------------------------------------------

my $path = '/apps/' . ask(GET => '')->json->{apps}[0]{id};

refused(name => $_, $path) for '', ' ', 'x' x 101, "a\nb", \0, undef, 1;

for my $member (qw(spEntityId acsUrl)) {
    refused($member => $_, $path)
        for 'http://a.test/', 'urn:x', 'https://', 'https://u@a.test/',
            'https://a.test/#a', 'https://a test/', 'https://a.test/' . 'x' x 2034, '',
            \0, undef, 1;
}

$s->sql('INSERT INTO svc.saml_app (tenant_id, id, name, sp_entity_id, acs_url)'
        . " SELECT '$globex->{id}', gen_random_uuid(), 'x', 'https://' || i, 'https://x'"
        . ' FROM generate_series(1, 99) i');
is(ask(POST => '/apps', \%NEW, tenant => $globex)->status, 201, 'the hundredth');
admin_error(ask(POST => '/apps', { %NEW, spEntityId => 'https://more.test' },
                tenant => $globex), 400, 'limit_exceeded', 'and no more');
is(scalar(@{ ask(GET => '', undef, tenant => $globex)->json->{apps} }), 100,
   'all are listed');


# --- who goes ----------------------------------------------------------------------------

my @workers = $s->workers;
my $sockets = $s->nginx->sockets;

for my $i (1 .. 20) {
    my $c = $s->begin(GET => '/v1/admin/saml-idp',
                      { Authorization => "Bearer $hooli->{api_token}" });

    select undef, undef, undef, $i / 1000;
    $i % 2 ? $c->abort : $c->close;
}

ok((wait_for { $s->nginx->sockets <= $sockets }), 'clients that go are gone');
is(ask(GET => '', undef, tenant => $hooli)->status, 200, 'who stays has an answer');
$s->unharmed(\@workers, 'and the workers are the same');
is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');

$s->done;


# --- without a key to seal with -------------------------------------------------------------

$s = SvcTest->new(svc => { svc_key_file => undef })->start;
$acme = $s->tenant('acme');
$s->sql($PERMISSIONS);

admin_error(ask(GET => ''), 503, undef, 'without svc_key_file no key is made');
admin_error(ask(POST => '/apps', \%NEW), 503, undef, 'and no application added');
is($s->sql('SELECT (SELECT count(*) FROM svc.saml_idp)'
           . ' + (SELECT count(*) FROM svc.saml_app)'), 0, 'nothing is stored');
like($s->log_tail, qr/a secret that a tenant configures cannot be sealed/,
     'which the error log tells');

$s->done;

done_testing();
