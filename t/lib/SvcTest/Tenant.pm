package SvcTest::Tenant;

# A tenant of the system under test, with its tokens, and requests that use
# them.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use MIME::Base64 qw(encode_base64url);
use Scalar::Util qw(weaken);

use SvcTest::Json qw(json);

my $JSON = json();


sub new {
    my ($class, $system, $slug) = @_;

    my $self = bless { system => $system, slug => $slug }, $class;
    weaken($self->{system});

    $self->{id} = $system->sql("INSERT INTO svc.tenant (slug, name)"
                               . " VALUES ('$slug', initcap('$slug'))"
                               . " RETURNING id");

    my $scim = $self->token(kind => 'scim', name => "$slug directory");
    my $api = $self->token(kind => 'api', name => "$slug deploy");

    @$self{qw(scim_token scim_id scim_name)} = @$scim{qw(token id name)};
    @$self{qw(api_token api_id api_name)} = @$api{qw(token id name)};

    return $self;
}


# Makes another token.  kind: 'scim' or 'api'; name; permissions, separated by
# commas; expires or revoked, each an SQL expression.

sub token {
    my ($self, %arg) = @_;

    my $kind = $arg{kind} // 'scim';
    my $text = ($kind eq 'scim' ? 'scim_' : 'svc_')
               . encode_base64url(SvcTest::random_bytes(32), '');
    my $prefix = substr $text, 0, $kind eq 'scim' ? 9 : 8;
    my $grants = '{' . ($arg{permissions}
                        // ($kind eq 'scim' ? 'scim'
                                            : 'users:view,tenant:manage')) . '}';
    my $name = $arg{name} // 'extra';
    my $hash = sha256_hex($text);

    $_ //= 'NULL' for @arg{qw(expires revoked)};

    $self->{system}->secret($text);

    my $id = $self->{system}->sql(<<"EOT");
INSERT INTO svc.credential (token_hash, tenant_id, kind, name, prefix,
                            permissions, expires_at, revoked_at)
VALUES ('\\x$hash', '$self->{id}', '$kind', '$name', '$prefix', '$grants',
        $arg{expires}, $arg{revoked})
RETURNING id
EOT

    return { token => $text, id => $id, name => $name };
}


# Returns a new API token with these permissions, separated by commas.

sub token_for {
    my ($self, $permissions) = @_;

    return $self->token(kind => 'api', permissions => $permissions)->{token};
}


# Sends one SCIM request.  The path is relative to /scim/v2, a body that is a
# reference is sent as JSON, and headers are added to those of a plain client.

sub scim {
    my ($self, $method, $path, $body, $headers) = @_;

    my @more = ref $headers eq 'ARRAY' ? @$headers : %{ $headers // {} };
    my @headers = @{ $self->headers };

    my %named = map { lc $more[2 * $_] => 1 } 0 .. @more / 2 - 1;

    push @headers, 'Content-Type', 'application/scim+json'
        if defined $body && !$named{'content-type'};

    return $self->{system}->http($method, "/scim/v2$path",
                                 [ @headers, @more ], $body);
}


# Sends one request of the admin API.  The path is relative to /v1/admin; the
# token is the tenant's API token or another one.

sub admin {
    my ($self, $method, $path, $body, $headers, $token) = @_;

    return $self->{system}->http($method, "/v1/admin$path",
        [ Authorization => 'Bearer ' . ($token // $self->{api_token}),
          @{ $headers // [] } ], $body);
}


# Returns a function that sends requests below a path of the admin API.  Its
# arguments include the name of a token ("all" by default) and headers.

sub asks {
    my ($self, $below, $token) = @_;

    return sub {
        my ($method, $path, $body, $name, @headers) = @_;

        return $self->admin($method, "$below$path", $body, \@headers,
                            $token->{ $name // 'all' });
    };
}


sub headers {
    my ($self) = @_;

    return [ Authorization => "Bearer $self->{scim_token}" ];
}


# Creates a user over SCIM, and returns the resource.

sub create {
    my ($self, %attribute) = @_;

    my $r = $self->scim(POST => '/Users',
        { schemas => [ 'urn:ietf:params:scim:schemas:core:2.0:User' ], %attribute });

    die "POST /Users: $r->{status} $r->{body}\n" if $r->{status} != 201;

    return $r->json;
}


# Creates a user with a unique name.

sub new_user {
    my ($self) = @_;

    my $n = ++$self->{new_users};

    return $self->create(userName => "new$n\@$self->{slug}.test");
}


# Stores $n users directly, user1@..., all created now.  Returns their ids in
# order.

sub add_users {
    my ($self, $n) = @_;

    my @rows = $self->{system}->sql(<<"EOT");
INSERT INTO svc.user_account (tenant_id, id, user_name, external_id, created_at,
                              display_name)
SELECT '$self->{id}', gen_random_uuid(), 'user' || i || '\@$self->{slug}.test',
       'ext-' || i, now() + i * interval '1 ms', 'User ' || i
FROM generate_series(1, $n) i
RETURNING id
EOT

    return map { $_->[0] } @rows;
}


# Stores applications of a type directly, with these clientIds.

sub add_applications {
    my ($self, $type, @ids) = @_;

    $self->{system}->sql(<<"EOT");
INSERT INTO svc.application (tenant_id, client_id, name, type, enabled, assignment,
                             redirect_uris, scopes, grant_types, auth_method,
                             access_token_format, access_token_ttl, require_consent,
                             require_dpop)
SELECT '$self->{id}', id, 'Name of ' || id, '$type', true, 'everyone', '{}', '{}',
       '{client_credentials}', 'client_secret_basic', 'jwt', 900, false, false
  FROM unnest('{@{[ join ',', @ids ]}}'::text[]) id
EOT
}


# Returns a text that changes when a request has stored anything in this tenant.

sub stored {
    my ($self) = @_;

    return $self->{system}->sql(<<"EOT");
SELECT (SELECT count(*) || ' users, '
               || coalesce(md5(string_agg(u::text, ' ' ORDER BY id)), '')
        FROM svc.user_account u WHERE tenant_id = '$self->{id}')
       || ', ' || (SELECT count(*) FROM svc.audit_event
                   WHERE tenant_id = '$self->{id}') || ' events'
EOT
}


# Returns how often its governance has changed.

sub revision {
    my ($self) = @_;

    return scalar $self->{system}->sql('SELECT revision FROM svc.governance'
                                       . " WHERE tenant_id = '$self->{id}'");
}


# --- the audit log -----------------------------------------------------------

# Returns its events, oldest first, each an array of columns, which are SQL
# expressions; only "details" is decoded.

sub events {
    my ($self, @columns) = @_;

    return $self->events_where('true', @columns);
}


# Returns the events of one target.

sub events_of {
    my ($self, $id, @columns) = @_;

    return $self->events_where("target_id = '$id'", @columns);
}


# Returns the events since the last call.  The default columns are the action;
# the type, id and name of its target; and details.

sub new_events {
    my ($self, @columns) = @_;

    @columns = qw(action target_type target_id target_name details)
        if !@columns;

    my $seen = $self->{seen_event} // 0;
    my @rows = $self->events_where("id > $seen", @columns, 'id');

    $self->{seen_event} = $rows[-1][-1] if @rows;
    pop @$_ for @rows;

    return @rows;
}


sub events_where {
    my ($self, $where, @columns) = @_;

    my @rows = $self->{system}->sql(
        'SELECT ' . join(', ', @columns) . ' FROM svc.audit_event'
        . " WHERE tenant_id = '$self->{id}' AND $where ORDER BY id");
    my @details = grep { $columns[$_] eq 'details' } 0 .. $#columns;

    for my $row (@rows) {
        $_ = $JSON->decode($_) for @$row[@details];
    }

    return @rows;
}


1;
