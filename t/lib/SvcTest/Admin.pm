package SvcTest::Admin;

# Tests of what every error of the admin API must look like, and of routes of which there
# is one for each list: those of one object, and searches.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

our @EXPORT = qw(admin_error admin_one admin_finds);

my %CODE = (400 => 'invalid_request', 401 => 'unauthorized',
            403 => 'forbidden', 404 => 'not_found',
            405 => 'method_not_allowed', 408 => 'request_timeout',
            409 => 'conflict', 413 => 'payload_too_large',
            414 => 'uri_too_long', 412 => 'precondition_failed',
            416 => 'range_not_satisfiable', 429 => 'rate_limited',
            500 => 'internal_error', 501 => 'not_implemented',
            503 => 'unavailable', 505 => 'http_version_not_supported');


# Tests and returns the error object.  code: undef for the default of the
# status.

sub admin_error {
    my ($r, $status, $code, $name) = @_;

    my @wrong = $r ? error_faults($r, $status, $code)
                   : 'no answer';

    ok(!@wrong, $name)
        or diag(map { "$_\n" } @wrong,
                $r ? "answer: $r->{status} " . substr $r->{body}, 0, 600 : ());

    return $r ? (eval { $r->json } // {})->{error} // {} : {};
}


sub error_faults {
    my ($r, $status, $code) = @_;

    $code //= $CODE{$status};

    my $json = eval { $r->json };
    my $error = ref $json eq 'HASH' ? $json->{error} : undef;
    my @wrong;

    push @wrong, "status is $r->{status}, not $status"
        if $r->{status} != $status;
    push @wrong, 'not of type application/json'
        if ($r->header('content-type') // '') ne 'application/json';
    push @wrong, 'no X-Request-Id'
        if ($r->header('x-request-id') // '') !~ /\A[0-9a-f]{32}\z/;
    push @wrong, 'no Retry-After'
        if $status == 503 && !$r->header('retry-after');
    push @wrong, 'WWW-Authenticate is not Bearer'
        if $status == 401 && ($r->header('www-authenticate') // '') ne 'Bearer';
    push @wrong, 'no Allow' if $status == 405 && !$r->header('allow');

    return (@wrong, 'no error object') if ref $error ne 'HASH';

    push @wrong, 'members beside error' if keys %$json != 1;
    push @wrong, member_faults($status, $error);
    push @wrong, "code is $error->{code}, not $code"
        if ($error->{code} // '') ne $code;
    push @wrong, 'no message' if !length($error->{message} // '');

    return @wrong;
}


# Returns what is wrong with the members of an error: of a 400 "member" is the name that
# the message begins with, in quotes, and there is none without one.

sub member_faults {
    my ($status, $error) = @_;

    my %has = %$error;
    my ($code, $message, $member) = delete @has{qw(code message member)};

    return 'members beside code and message' if %has;
    return 'it names a member' if $status != 400 && defined $member;
    return () if $status != 400;

    my $named = ($message // '') =~ /\A"/;

    return "the member is \"$member\": $message"
        if defined $member && index($message, "\"$member\"") != 0;
    return "it names no member: $message" if $named && !defined $member;
    return ();
}


# Tests that one object is, byte for byte, what its list has of it, for whoever may see
# the list, and for nobody of another tenant.
#
#     admin_one($acme, '/groups', $id, needs => 'groups:manage', other => $globex,
#               none => [ 'x' ], query => '?status=active');

sub admin_one {
    my ($tenant, $path, $id, %arg) = @_;

    my @others = grep { $_ ne $arg{needs} } qw(apps:manage audit:view groups:manage
                      members:manage roles:manage tenant:manage users:view);
    my $token = $tenant->token_for($arg{needs});
    my $get = sub { $tenant->admin(GET => $_[0], undef, undef, $_[1] // $token) };
    my $r = $get->("$path/$id");
    my $list = $get->($path . ($arg{query} // ''))->body;

    is($r->status, 200, "GET $path/$id") or diag($r->body);
    cmp_ok(index($list, $r->body), '>', 0, '... is what the list has') or diag($r->body, $list);
    admin_error($get->("$path/$id", $tenant->token_for(join ',', @others)), 403, 'forbidden',
                '... and not for who lacks the permission');
    admin_error($arg{other}->admin(GET => "$path/$id", undef, undef,
                                   $arg{other}->token_for($arg{needs})), 404, 'not_found',
                '... nor for another tenant') if $arg{other};
    admin_error($get->("$path/$_"), 404, 'not_found', "... nor is there $_")
        for @{ $arg{none} // [] };

    return $r;
}


# Tests what the "q" of a list finds: "of" is the list's key, and "by" the member that is
# named for each text.
#
#     admin_finds($acme, '/groups', needs => 'groups:manage', of => 'groups', by => 'name',
#                 finds => { staff => [ 'Staff' ], none => [] }, query => 'status=active');

sub admin_finds {
    my ($tenant, $path, %arg) = @_;

    my $token = $tenant->token_for($arg{needs});
    my $ask = sub {
        my ($q) = @_;

        return $tenant->admin(GET => "$path?q=$q" . ($arg{query} ? "&$arg{query}" : ''), undef,
                              undef, $token);
    };

    for my $text (sort keys %{ $arg{finds} }) {
        utf8::encode(my $q = $text);
        $q =~ s/([^A-Za-z0-9._-])/sprintf '%%%02X', ord $1/ge;

        my $r = $ask->($q);
        my @wanted = sort @{ $arg{finds}{$text} };

        is($r->status, 200, "$path?q=$q") or (diag($r->body), next);
        is_deeply([ sort map { $_->{ $arg{by} } } @{ $r->json->{ $arg{of} } } ], \@wanted,
                  '... finds ' . (@wanted || 'none'));
        is($r->json->{total}, scalar @wanted, '... and counts them');
    }

    admin_error($ask->($_), 400, 'invalid_request', "$path?q=" . substr $_, 0, 20)
        for 'x' x 201, '%FF', 'a%00b', 'x&q=y';
    is($ask->('%C3%BC' x 200)->status, 200, '200 characters');

    return;
}


1;
