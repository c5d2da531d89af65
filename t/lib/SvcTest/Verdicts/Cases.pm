package SvcTest::Verdicts::Cases;

# Requests for tokens, each with the state that it meets.  A seed always gives
# the same ones.  Most have one or two things wrong, so that the order of checks
# matters.

use strict;
use warnings;

use SvcTest::Grants qw($REDIRECT $VERIFIER);
use SvcTest::OAuth qw($ACCESS_TOKEN $EXCHANGE);


my $API = 'https://api.test/';
my $OTHER_API = 'https://other.test/';
my @GRANTS = ('client_credentials', 'authorization_code', 'refresh_token', $EXCHANGE);

# An application with which nothing is wrong, except what a case changes.

my %GOOD = (
    enabled => 'true', expires_at => 'NULL', owner_lost_at => 'now()', owner_id => 'NULL',
    require_dpop => 'false', assignment => "'everyone'", require_consent => 'false',
    grant_types => "'{" . join(',', @GRANTS) . "}'", access_token_ttl => 3600,
    max_token_ttl => 'NULL', allowed_scopes => 'NULL', allowed_audiences => 'NULL',
    allowed_audience_keys => 'NULL', tokens_valid_after => 'NULL',
    scopes => "'{openid,profile,read,write}'", access_token_format => "'opaque'",
);

# What may be wrong, by the part it belongs to: the client's row, the tenant's,
# the user's, the grant's, the presented token's; and the form.

my %APP = (
    disabled => { enabled => 'false' },
    expired => { expires_at => "now() - interval '1 s'" },
    orphaned => { owner_lost_at => "now() - interval '1 year'" },
    no_grant_type => { grant_types => "'{}'" },
    dpop => { require_dpop => 'true' },
    groups => { assignment => "'groups'" },
    consent => { require_consent => 'true' },
    fewer_scopes => { scopes => "'{openid,read}'" },
    no_scopes => { scopes => "'{openid}'" },
    ceiling => { allowed_scopes => "'{read}'" },
    ceiling_none => { allowed_scopes => "'{}'" },
    audiences => { allowed_audiences => "'{$API}'", allowed_audience_keys => "'{$API}'" },
    audiences_two => { allowed_audiences => "'{$API,urn:two}'",
                       allowed_audience_keys => "'{$API,urn:two}'" },
    cut => { tokens_valid_after => "now() - interval '500 ms'" },
    short => { max_token_ttl => 60 },
    ends => { expires_at => "now() + interval '100 s'" },
    jwt => { access_token_format => "'jwt'" },
    unasked => { require_consent => 'true' },
);

my %TENANT = (
    suspended => 'UPDATE svc.tenant SET suspended_at = now()',
    tenant_cut => "UPDATE svc.oauth_tenant SET tokens_valid_after = now() - interval '500 ms'",
    depth => 'UPDATE svc.oauth_tenant SET max_delegation_depth = 1',
);

my %USER = (
    inactive => "status = 'suspended'",
    signed_out => "valid_after = now() - interval '500 ms'",
);

my %GRANT = (
    revoked => { revoked_at => 'now()', reason => "'user'" },
    grant_expired => { expires_at => "now() - interval '1 s'" },
    unasked => { consented => 'false' },
    of_api => { resources => "'{$API}'", resource_keys => "'{$API}'" },
    of_two => { resources => "'{$API,$OTHER_API}'", resource_keys => "'{$API,$OTHER_API}'" },
    of_issuer => { resources => "'{ISSUER}'", resource_keys => "'{ISSUER}'" },
    offline => { scopes => "'{offline_access,openid,read,write}'" },
    only_offline => { scopes => "'{offline_access}'" },
    nothing => { scopes => "'{}'" },
);

my %CODE = (
    code_used => { used_at => 'now()' },
    code_expired => { expires_at => "now() - interval '1 s'" },
    code_bound => { jkt => "'\\x" . 'ab' x 32 . "'" },
    code_redirect => { redirect_uri => "'https://b.test/'" },
    code_challenge => { challenge => "'\\x" . 'cd' x 32 . "'" },
    code_nonce => { nonce => "'n'" },
);

my %REFRESH = (
    refresh_used => { used_at => 'now()', successor => "'\\x" . 'ef' x 32 . "'" },
    refresh_old => { used_at => "now() - interval '31 s'", successor => "'\\x" . 'ef' x 32 . "'" },
    refresh_expired => { expires_at => "now() - interval '1 s'" },
    refresh_bound => { jkt => "'\\x" . 'ab' x 32 . "'" },
);

my %SUBJECT = (
    subject_revoked => { revoked_at => 'now()' },
    subject_old => { ttl => 1, ago => 5 },
    subject_chain => { chain => 1 },
    subject_cycle => { chain => 'self' },
    subject_other => { audience => $OTHER_API },
    subject_none => { audience => undef },
    subject_scopes => { scopes => "'{openid}'" },
    subject_of_grant => { grant => 1 },
    subject_own => { own => 1 },
    subject_jwt => { own => 1, jwt => 1 },
    depth => { chain => 1 },
);

my %FORM = (
    wrong_secret => sub { $_[0]{secret} = 'x' x 43 },
    public => sub { $_[0]{public} = 1 },
    proof => sub { $_[0]{proof} = 'new' },
    proof_seen => sub { $_[0]{proof} = 'seen' },
    asks_read => sub { $_[0]{form}{scope} = 'read' },
    asks_two => sub { $_[0]{form}{scope} = 'read write' },
    asks_more => sub { $_[0]{form}{scope} = 'read admin' },
    asks_openid => sub { $_[0]{form}{scope} = 'openid' },
    asks_badly => sub { $_[0]{form}{scope} = 'a"b' },
    for_api => sub { $_[0]{form}{resource} = $API },
    for_other => sub { $_[0]{form}{resource} = $OTHER_API },
    for_none => sub { $_[0]{form}{resource} = 'https://none.test/' },
    for_issuer => sub { $_[0]{form}{resource} = 'ISSUER' },
    for_badly => sub { $_[0]{form}{resource} = 'api' },
    not_it => sub { $_[0]{not_it} = 1 },
    actor_own => sub { $_[0]{actor} = 'own' },
    actor_other => sub { $_[0]{actor} = 'other' },
    actor_user => sub { $_[0]{actor} = 'user' },
    actor_none => sub { $_[0]{actor} = 'none' },
    to_api => sub { $_[0]{audience} = 'agent' },
    to_service => sub { $_[0]{audience} = 'm2m' },
    to_none => sub { $_[0]{audience} = 'other' },
    twice => sub { $_[0]{twice} = 1 },
    after_next => sub { $_[0]{twice} = 'next' },
);

my @CLIENT = (keys %APP, qw(suspended tenant_cut wrong_secret public proof proof_seen
                            asks_read asks_two asks_more asks_openid asks_badly for_api for_other
                            for_none for_issuer for_badly));
my @GRANTED = (@CLIENT, keys %USER, keys %GRANT, 'not_it');

# The clients of each type of request, and what may be wrong.

my %TYPES = (
    client_credentials => { clients => [ qw(m2m agent) ], wrong => [ @CLIENT ] },
    authorization_code => { clients => [ qw(web spa agent) ], wrong => [ @GRANTED, 'twice', keys %CODE ] },
    refresh_token => { clients => [ qw(web spa agent) ], wrong => [ @GRANTED, qw(twice twice after_next), keys %REFRESH ] },
    $EXCHANGE => { clients => [ qw(agent agent m2m) ],
                   wrong => [ @CLIENT, 'depth', keys %USER, keys %SUBJECT, 'revoked', 'not_it',
                              qw(actor_own actor_own actor_other actor_user actor_none to_api
                                 to_service to_none) ] },
);

# How often each type is drawn, out of ten.

my @DRAWN = (('refresh_token') x 4, ('authorization_code') x 3, ($EXCHANGE) x 2,
             'client_credentials');


# types: draws only these; none means all.

sub new {
    my ($class, $seed, @types) = @_;

    my @drawn = grep { my $type = $_; !@types || grep { $type eq $_ } @types } @DRAWN;

    return bless { drawn => \@drawn, x => $seed * 2654435761 % 4294967296 || 1, n => 0 }, $class;
}


# Returns a number below $n (xorshift: the same on every machine).

sub below {
    my ($self, $n) = @_;

    my $x = $self->{x};

    $x = ($x ^ $x << 13) & 0xffffffff;
    $x ^= $x >> 17;
    $x = ($x ^ $x << 5) & 0xffffffff;
    $self->{x} = $x;

    return $x % $n;
}


sub one {
    my ($self, @of) = @_;

    return $of[$self->below(scalar @of)];
}


# Returns the next case: type, client, the names of what is wrong, and the
# changes that these make: app, tenant, user, grant, shown, subject, actor,
# audience and form; good: the other clients.

sub draw {
    my ($self) = @_;

    my $type = $self->one(@{ $self->{drawn} });
    my @may = sort @{ $TYPES{$type}{wrong} };
    my %wrong = map { $self->one(@may) => 1 } 1 .. $self->one(0, 1, 1, 1, 2, 2, 2, 3, 3, 4);
    my $case = { n => ++$self->{n}, type => $type,
                 client => $self->one(@{ $TYPES{$type}{clients} }),
                 wrong => [ sort keys %wrong ], app => { %GOOD }, good => \%GOOD, form => {},
                 tenant => [], user => [], grant => {}, shown => {}, subject => {} };

    $case->{app}{access_token_format} = $self->one("'opaque'", "'jwt'");
    $case->{form}{scope} = $self->one('read', 'read', undef) if $type ne 'authorization_code';

    for my $name (@{ $case->{wrong} }) {
        add($case->{app}, $APP{$name});
        add($case->{grant}, $GRANT{$name});
        add($case->{shown}, $CODE{$name} // $REFRESH{$name});
        add($case->{subject}, $SUBJECT{$name});
        push @{ $case->{tenant} }, $TENANT{$name} // ();
        push @{ $case->{user} }, $USER{$name} // ();
        $FORM{$name}($case) if $FORM{$name};
    }

    return $case;
}


sub add {
    my ($to, $more) = @_;

    @$to{ keys %$more } = values %$more if $more;
}


1;
