#!/usr/bin/perl

# Shows that no route takes a name with bidirectional control characters, by which it
# would look like another name. A SCIM request that deactivates its user does so in
# spite of such a name.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest;
use SvcTest::Admin;
use SvcTest::Nginx;
use SvcTest::Scim;
use SvcTest::Walk;

my @BIDI = (0x61c, 0x200e, 0x200f, 0x202a .. 0x202e, 0x2066 .. 0x2069);
my @OTHERS = (0x61b, 0x200b .. 0x200d, 0x2010, 0x2029, 0x202f, 0x2065, 0x206a, 0x5d0,
              0x1f600);

my %NAME = map { $_ => 1 } qw(name displayName firstName lastName);


# --- /v1 ---------------------------------------------------------------------------

my $w = SvcTest::Walk->new;
my %seen;

for my $route (grep { $_->{surface} eq 'admin' } $w->routes) {
    my $body = $w->body($route);

    next if ref $body ne 'HASH';

    for my $member (grep { $NAME{$_} } sort keys %$body) {
        my @wrong = map { refused($route, $body, $member, $_) } @BIDI;

        $seen{ $route->{id} } = 1;
        $w->told("$route->{name}: $member", @wrong, $w->unharmed($route->{name}) || ());
    }
}

ok($seen{$_}, "$_ has a name")
    for qw(createApplication updateApplication createGroup updateGroup createRole updateRole
           updateTenant signUpOrganization updateUser updateProfile signUp acceptInvitation
           createApiToken createScimToken createSamlApp updateSamlApp);


# Returns what is wrong with the answer to a name with this character.

sub refused {
    my ($route, $body, $member, $c) = @_;

    my $r = $w->ask($route->{method}, $w->path($route), [ $w->headers($route) ],
                    { %$body, $member => 'Ad' . chr($c) . 'a' });
    my $wrong = $w->faults($route, $r, 400, 'invalid_request');

    $wrong //= "it says $r->{body}"
        if $r && $r->json->{error}{message} !~ /^"\Q$member\E" must not have characters/;

    return $wrong ? sprintf 'U+%04X: %s', $c, $wrong : ();
}

my $acme = $w->{acme};
my @token = (Authorization => "Bearer $acme->{api_token}");

# A config bundle.

for my $path ('plan', 'apply') {
    admin_error($w->{s}->http(POST => "/v1/admin/config/$path", [ @token ], {
        version => 1, roles => [ { key => 'bidi', name => "A\x{202e}b", permissions => [] } ],
    }), 400, 'invalid_request', "$path: a role");
}

# An agent, and a character that is allowed.

admin_error($w->{s}->http(POST => '/v1/applications', [ @token ],
                          { name => "Bot\x{2066}", type => 'agent' }), 400,
            'invalid_request', 'an agent');

for my $c (@OTHERS) {
    my $name = 'A' . chr($c) . 'b';
    my $r = $w->{s}->http(POST => '/v1/admin/groups', [ @token ], { name => $name });

    is($r->status == 201 && $r->json->{name}, $name, sprintf 'U+%04X is taken', $c)
        or diag($r->body);
}

$w->{s}->done(shown => [ qr/ \[info\] .* client sent duplicate header line: / ]);


# --- SCIM --------------------------------------------------------------------------

my $rfc = SvcTest::Nginx::free_port();
my $s = SvcTest->new(http => <<"EOT")->start;
    server {
        listen 127.0.0.1:$rfc;
        location /scim/v2 { svc_scim on; svc_scim_mode rfc; }
    }
EOT
my $globex = $s->tenant('globex');
my ($port, $n) = (undef, 0);

sub ask {
    my ($method, $path, $body) = @_;

    return $s->http($method, "/scim/v2/Users$path", $globex->headers, $body,
                    $port ? (port => $port) : ());
}

# Returns the bodies of a user with this name.

sub named {
    my ($member, $name) = @_;

    return $member =~ /^name\.(\w+)/ ? (name => { $1 => $name }) : ($member => $name);
}

sub state_of {
    return $s->sql("SELECT concat_ws(' ', status, first_name, last_name, display_name)"
                   . " FROM svc.user_account WHERE id = '$_[0]'");
}

for my $mode ('spec', 'rfc') {
    $port = $mode eq 'rfc' ? $rfc : undef;

    for my $member (qw(displayName name.givenName name.familyName name.formatted)) {
        walk($mode, $member);
    }
}

sub walk {
    my ($mode, $member) = @_;

    my $name = "$mode: $member";
    my $bad = "Ev\x{202e}e\x{200f}";
    my @user = (userName => 'user' . $n++ . '@globex.test');
    my $false = JSON::PP::false();

    for my $c (@BIDI) {
        scim_error(ask(POST => '', { @user, named($member, 'a' . chr $c) }), 400,
                   'invalidValue', sprintf '%s: U+%04X', $name, $c);
    }

    scim_error(ask(POST => '', { @user, named($member, $bad), active => $false }), 400,
               'invalidValue', "$name: of one who was never there");

    for my $how (qw(put patch path)) {
        my $id = ask(POST => '', { userName => 'user' . $n++ . '@globex.test',
                                   named($member, 'Eve') })->json->{id};
        my $user = $s->sql("SELECT user_name FROM svc.user_account WHERE id = '$id'");
        my $was = state_of($id);
        my @path = ({ op => 'replace', path => $member, value => $bad });
        my %body = (
            put => [ PUT => { userName => $user, named($member, $bad) } ],
            patch => [ PATCH => patch_op({ op => 'replace',
                                           value => { named($member, $bad) } }) ],
            path => [ PATCH => patch_op(@path) ]);
        my %leaver = (
            put => [ PUT => { userName => $user, named($member, $bad), active => $false } ],
            patch => [ PATCH => patch_op({ op => 'replace', value => {
                           named($member, $bad), active => 'False' } }) ],
            path => [ PATCH => patch_op(@path, { op => 'Replace', path => 'active',
                                                 value => $false }) ]);

        scim_error(ask($body{$how}[0], "/$id", $body{$how}[1]), 400, 'invalidValue',
                   "$name: $how");
        is(state_of($id), $was, '... changes nothing');

        my $r = ask($leaver{$how}[0], "/$id", $leaver{$how}[1]);

        is($r->status, 200, "$name: $how that deactivates") or diag($r->body);
        is(state_of($id), 'deactivated Eve', '... goes through, without the characters');
    }
}

is(join('', $s->pg->errors), '', 'no error in the log of PostgreSQL');
$s->done;
done_testing();
