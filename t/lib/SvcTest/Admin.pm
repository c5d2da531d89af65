package SvcTest::Admin;

# Tests of what every error of the admin API must look like.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

our @EXPORT = qw(admin_error);

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


1;
