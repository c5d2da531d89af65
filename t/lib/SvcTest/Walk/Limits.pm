package SvcTest::Walk::Limits;

# The limits, types and defaults of the published contract are the server's:
# what one refuses the other refuses, member by member.

use strict;
use warnings;

use JSON::PP ();
use Test::More;

use SvcTest::Governance qw($ALL);
use SvcTest::Npm;
use SvcTest::Walk;

# what a schema cannot express, or where it is stricter for the sake of clients

my @KNOWN = (
    'getAuthorization [?].*: .*',                        # the whole query is a
    '(?:decideAuthorization|endSession) [.?].*: .*',     # client's request
    'listNames [?].*: .*',                               # these go together
    'listNames [?].*: .*',                               # these go together
    '\w+ [?]limit: 501', '\w+ [?]offset: 2147483648',     # taken as the maximum
    '\w+Config [?](?:detail|prune): [01]',
    '\w+ \S*mfaThreshold: 100',                          # not below denyThreshold
    '\w+ \S*timezone: "x"',
    'createApplication [.](?:redirectUris absent: undefined|type: .*'
    . '|tokenEndpointAuthMethod: "none"|grantTypes.*: "(?!auth).*)', # for other types
    '(?:create|update)Application [.](?:tokenEndpointAuthMethod: "private_key_jwt"'
    . '|securityProfile: "fapi2"|jwksUri: "https.*)',    # these go together
    'updateApplication [.](?:type: .*|tokenEndpointAuthMethod: "none"'
    . '|grantTypes.*: "(?!auth).*)',
    'changePassword [.]currentPassword.*: (?:undefined|null)',   # required in a full session
    'verify(?:SignUp|Organization) [.](?:challengeId|code|token).*: .*',
    'createInvitation [.]role: "(?:x|a+)"',              # not a role's key
    'putLdap [.]bind(?:Dn|Password).*: (?:undefined|null)', # both or none
    'createSocialConnection [.](?:provider|teamId|keyId).*: .*', # Apple's only
    '(?:create|update)SocialConnection [.](?:clientSecret.*: (?:undefined|null)'
    . '|trustEmail: true)',                              # for "oidc"
    '\w+ScimTarget [.]clientId: "(?:x|a+)"?',         # another target's, or unknown
    'putSaml [.]enabled.*: true',                        # needs certificates
    'putLdap [.]startTls.*: true',                       # not with ldaps://
    'testLdap [.]email absent: undefined',               # with a password
    'updateTenant [.]branding[.]\w+: "(?:x|a+)"',         # not a colour
);


# methods, besides that of its valid body, that a request would do for
my %METHOD = (createChallenge => { schema => 'ChallengeCreate', others => [] },
              stepUp => { schema => 'StepUp', others => [ 'email' ] });

my $JSON = JSON::PP->new->utf8->canonical;


sub walk {
    my ($class, $w) = @_;

    my ($s, $acme) = @$w{qw(s acme)};
    my ($of, $browser) = @$acme{qw(of browser)};

    alone($w);
    $w->stay_signed_in;

    # A passkey of the owner can be renamed.  Factors to confirm and members have
    # an unknown id here: a factor would not be a valid one, and the roles that
    # members are given are pruned meanwhile.

    my $factor = $s->sql(
        'INSERT INTO svc.factor (tenant_id, user_id, id, type, name) VALUES'
        . " ('$acme->{id}', '$acme->{owner}', gen_random_uuid(), 'passkey', 'x')"
        . ' RETURNING id');
    my $document = $s->http(GET => '/v1/openapi.json')->json;
    my @known = (@KNOWN, methods($document, $w->{body}));
    my $told = npm_run($s->root, 'limits.mjs', $JSON->encode({
        document => $document,
        base => $s->base_url, token => $acme->{api_token}, bodies => $w->{body},
        cookie => $browser->cookie, csrf => $browser->{csrf}, known => \@known,
        path => { %$of, factors => $factor, totp => $SvcTest::Walk::NONE,
                  email => $SvcTest::Walk::NONE, members => $SvcTest::Walk::NONE },
    }));

    my ($checked) = $told =~ s/^checked (\d+)\n\z//m ? $1 : 0;

    is($told, '', 'the document and the server say the same');
    cmp_ok($checked, '>', 2000, "$checked times");

    defaults($w);
}


# The other methods of the contract are not the user's, or take another proof.

sub methods {
    my ($document, $body) = @_;

    my @known;

    for my $id (sort keys %METHOD) {
        my $schema = $document->{components}{schemas}{$METHOD{$id}{schema}};
        my %fits = map { $_ => 1 } $body->{$id}{method}, @{ $METHOD{$id}{others} };

        push @known, map { "$id [.]method: \"$_\"" }
                     grep { !$fits{$_} } @{ $schema->{properties}{method}{enum} };
    }

    return @known;
}


# Makes each request independent of earlier ones: limits on the number of things
# never apply, and each test of a target has ended.

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

# Tests that omitted members get the schema's defaults, in a new tenant.

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
