package SvcTest::Walk::Limits;

# The limits, types and defaults of the published contract are those of the
# server: what the one refuses the other does, member by member.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest::Governance qw($ALL);
use SvcTest::Npm;
use SvcTest::Walk;

# what a schema cannot say, or says more strictly for the sake of clients

my @KNOWN = (
    'getAuthorization [?].*: .*',                        # all of its query is one
    '(?:decideAuthorization|endSession) [.?].*: .*',     # request of an application
    '\w+ [?]limit: 501', '\w+ [?]offset: 2147483648',     # as the most
    '\w+Config [?](?:detail|prune): [01]',
    '\w+ \S*mfaThreshold: 100',                          # not below the other
    '\w+ \S*timezone: "x"',
    'createChallenge [.]method: "(?:totp|email|recovery)"', # that the user has not
    'stepUp [.]method: "(?:passkey|recovery|password)"',         # of another code
    'createApplication [.](?:redirectUris absent: undefined|type: .*'
    . '|tokenEndpointAuthMethod: "none"|grantTypes.*: "(?!auth).*)', # of other types
    '(?:create|update)Application [.](?:tokenEndpointAuthMethod: "private_key_jwt"'
    . '|securityProfile: "fapi2")',                      # which need keys
    'updateApplication [.](?:type: .*|tokenEndpointAuthMethod: "none"'
    . '|grantTypes.*: "(?!auth).*)',
    'changePassword [.]currentPassword.*: (?:undefined|null)',   # unless it waits
    'verify(?:SignUp|Organization) [.](?:challengeId|code|token).*: .*',
    'createInvitation [.]role: "(?:x|a+)"',              # no key of a role
    'putLdap [.]bind(?:Dn|Password).*: (?:undefined|null)', # both or none
    'createSocialConnection [.](?:provider|teamId|keyId).*: .*', # Apple's alone
    '\w+ScimTarget [.]clientId: "(?:x|a+)"?',         # of another one, or none
    'putSaml [.]enabled.*: true',                        # without certificates
    'putLdap [.]startTls.*: true',                       # with ldaps://
    'updateTenant [.]branding[.]\w+: "(?:x|a+)"',         # no name of a colour
);


my $JSON = JSON::PP->new->utf8->canonical;


sub walk {
    my ($class, $w) = @_;

    my ($s, $acme) = @$w{qw(s acme)};
    my ($of, $browser) = @$acme{qw(of browser)};

    alone($w);
    $w->stay_signed_in;

    # one of our own has a name; of factors to come none counts, and the roles that
    # members are given are pruned meanwhile

    my $factor = $s->sql(
        'INSERT INTO svc.factor (tenant_id, user_id, id, type, name) VALUES'
        . " ('$acme->{id}', '$acme->{owner}', gen_random_uuid(), 'passkey', 'x')"
        . ' RETURNING id');
    my $told = npm_run($s->root, 'limits.mjs', $JSON->encode({
        document => $s->http(GET => '/v1/openapi.json')->json,
        base => $s->base_url, token => $acme->{api_token}, bodies => $w->{body},
        cookie => $browser->cookie, csrf => $browser->{csrf}, known => \@KNOWN,
        path => { %$of, factors => $factor, totp => $SvcTest::Walk::NONE,
                  email => $SvcTest::Walk::NONE, members => $SvcTest::Walk::NONE },
    }));

    my ($checked) = $told =~ s/^checked (\d+)\n\z//m ? $1 : 0;

    is($told, '', 'the document and the server say the same');
    cmp_ok($checked, '>', 2000, "$checked times");

    defaults($w);
}


# As if there were no other one of what is limited, and each test had an end.

sub alone {
    my ($w) = @_;

    my $own = $w->{body}{updateScimTarget}{clientId};

    $w->{s}->sql($_) for
        'CREATE FUNCTION public.old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN'
        . " NEW.created_at := now() - '1 day'::interval; RETURN NEW; END \$\$",
        'CREATE TRIGGER old BEFORE INSERT ON svc.factor FOR EACH ROW'
        . ' EXECUTE FUNCTION public.old()',
        'CREATE FUNCTION public.target() RETURNS trigger LANGUAGE plpgsql AS $$'
        . ' BEGIN NEW.test_done := NEW.test_id; NEW.sync_status := NULL;'
        . ' RETURN NEW; END $$',
        'CREATE TRIGGER target BEFORE UPDATE ON svc.scim_target FOR EACH ROW'
        . ' EXECUTE FUNCTION public.target()',
        'CREATE FUNCTION public.no_target() RETURNS trigger LANGUAGE plpgsql AS $$'
        . ' BEGIN DELETE FROM svc.scim_target t WHERE t.id = NEW.id'
        . " AND t.client_id <> '$own'; RETURN NULL; END \$\$",
        'CREATE TRIGGER no_target AFTER INSERT ON svc.scim_target FOR EACH ROW'
        . ' EXECUTE FUNCTION public.no_target()',
        "UPDATE svc.factor SET created_at = now() - interval '1 day'",
        "UPDATE svc.scim_target SET test_done = test_id, sync_status = NULL";
}


# --- defaults --------------------------------------------------------------------

# What was left out is as the schema says, of a tenant that is new.

sub defaults {
    my ($w) = @_;

    my $tenant = $w->{s}->tenant('new');
    my $token = $tenant->token_for($ALL);
    my $components = $w->{s}->http(GET => '/v1/openapi.json')->json->{components};
    my $made = sub {
        my $r = $tenant->admin(@_, [], $token);

        like($r->status, qr/\A20[01]\z/, "@_[0, 1]") or diag($r->body);
        $w->{s}->secret($1) if $r->body =~ /"secret":"([^"]*)"/;

        return $r->json;
    };
    my $same = sub {
        my ($name, $got) = @_;
        my $properties = $components->{schemas}{$name}{properties};
        my @members = grep { exists $properties->{$_}{default}
                             && !$properties->{$_}{writeOnly} } keys %$properties;

        cmp_ok(scalar @members, '>', 0, "$name has defaults");
        is_deeply({ map { $_ => $got->{$_} } @members },
                  { map { $_ => $properties->{$_}{default} } @members },
                  "$name: the defaults are the server's");
    };

    my $rule = { name => 'r', action => 'mfa' };
    my $rules = $made->(PUT => '/access-policy', { defaultAction => 'allow', rules =>
        [ $rule, { %$rule, timeWindows => [ { start => '01:00',
                                              end => '02:00' } ] } ] })
        ->{rules};

    $same->(AccessRuleInput => $rules->[0]);
    $same->(TimeWindowInput => $rules->[1]{timeWindows}[0]);
    $same->(WebhookCreate => $made->(POST => '/webhooks', {
        url => 'https://hooks.example.com/', events => [ 'user.created' ] }));
    $same->(GroupCreate => $made->(POST => '/groups', { name => 'g' }));
    $same->(ApiTokenCreate => $made->(POST => '/api-tokens', {
        name => 't', scopes => [ 'users:view' ] }));
    $same->(BrandingUpdate => $made->(GET => '/tenant', undef)->{tenant}{branding});

    my $page = $made->(GET => '/users', undef);

    is($page->{$_}, $components->{parameters}{$_}{schema}{default}, "$_: default")
        for qw(limit offset);
}


1;
